"""All files that are made from the robots' descriptions, by path below the workspace.

`make shared` writes them, and test/test_shared.py fails where one is another. A file more is an
entry of `shared_files`. Which scenario shows a robot is in config/show.yaml of its package; topics
and qualities of service are those of roboaccord_ros and of the core's bags.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from benchmarks.shared.gazebo import (
    EMPTY,
    empty_world,
    robot_model,
    robot_world,
    ros2_control_model,
    terrain_models,
)
from benchmarks.shared.layouts import foxglove, plotjuggler, rviz
from roboaccord.bag import input_topics, optional_topics, reference_topics, run_topics, switch_topic
from roboaccord.cli import complain
from roboaccord.contract import AccordError, drafting
from roboaccord.description import read_yaml, share
from roboaccord.run import make_folder
from roboaccord.scenario import Setup, find_robot, load_scenario, robot_names, scenario_names
from roboaccord_ros.graph import names


@dataclass(frozen=True)
class Show:
    """Hold a robot in the scenario that shows it, and in others that models are made of.

    Args:
        setup: of the scenario that shows it.
        terrains: of scenarios whose terrain is a model.
        ros2_control: of scenarios in which ros2_control drives it; at most one.
    """

    setup: Setup
    terrains: tuple[Setup, ...]
    ros2_control: tuple[Setup, ...]

    @classmethod
    def of(cls, name: str) -> Show:
        """Read `config/show.yaml` of a robot's package; without it, the first scenario is shown.

        Raises:
            AccordError: if a scenario is broken.
        """
        package = find_robot(name).package
        path = share(package) / "config" / "show.yaml"
        given = read_yaml(path) if path.is_file() else {}
        changes = given.get("set", [])
        shown = given.get("scenario") or scenario_names(package)[0]
        (setup,), terrains, driven = (
            tuple(Setup.of(load_scenario(package, name, each, changes)) for each in names)
            for names in ([shown], given.get("terrains", []), given.get("ros2_control", []))
        )
        return cls(setup, terrains, driven)


TOP = Path(__file__).resolve().parents[2]  # of the workspace
HEAD = Path(__file__).with_name("robot.recorder.head")
LATCHED = {
    "durability": "transient_local",
    "history": "keep_last",
    "depth": names.LATCHED.depth,
    "reliability": "reliable",
}
EVERY = {"durability": "volatile", "history": "keep_all", "depth": 0, "reliability": "reliable"}

INPUT = {**EVERY, "reliability": "best_effort"}


def shared_files(robots: Sequence[str]) -> dict[str, bytes]:
    """Return the content of each file.

    Args:
        robots: by name; the QoS overrides of the recorder are about all of them.

    Raises:
        AccordError: if a description or a scenario is broken, or a library is missing.
    """
    shows = [Show.of(name) for name in robots]
    files = {"config/recorder.yaml": recorder_qos([show.setup for show in shows]).encode()}
    files |= {f"worlds/{name}.sdf": empty_world(name).encode() for name in EMPTY}
    for show in shows:
        name = show.setup.robot.name
        files |= robot_model(show.setup) | terrain_models([show.setup, *show.terrains])
        for setup in show.ros2_control:
            files |= ros2_control_model(setup)
        texts = {
            f"worlds/{name}.sdf": robot_world(show.setup),
            f"config/rviz/{name}.rviz": rviz(show.setup),
            f"config/foxglove/{name}.json": foxglove(show.setup),
            f"config/plotjuggler/{name}.xml": plotjuggler(show.setup),
        }
        files |= {path: text.encode() for path, text in texts.items()}
    return files


def recorder_qos(setups: Sequence[Setup]) -> str:
    """Return the YAML text for `--qos-profile-overrides-path`."""
    found = {}
    for setup in setups:
        robot = setup.robot.name
        switches = [switch_topic(robot, name) for name in setup.initial.switches]
        for topic in (
            *run_topics(robot),
            *optional_topics(robot),
            *reference_topics(robot),
            *switches,
        ):
            found[topic.name] = dict(LATCHED if topic.latched else EVERY)
        found[f"/{robot}/{names.RESULT}"] = dict(LATCHED)
        found[f"/{robot}/{names.ERROR}"] = dict(EVERY)
        inputs = (*input_topics(setup.robot), names.FAULT)
        found |= {f"/{robot}/{name}": dict(INPUT) for name in inputs}
    return HEAD.read_text(encoding="utf-8") + yaml.safe_dump(found, sort_keys=True)


def main(top: Path = TOP) -> int:
    """Write the files below a folder."""
    try:
        for path, content in shared_files(robot_names()).items():
            with drafting(make_folder(top, Path(path).parent) / Path(path).name) as draft:
                draft.write_bytes(content)
    except AccordError as error:
        return complain(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
