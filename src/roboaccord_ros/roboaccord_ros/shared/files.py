"""All files that are made from the robots' descriptions, by path below the workspace."""

from __future__ import annotations

from collections.abc import Sequence

from roboaccord_ros.shared.gazebo import (
    EMPTY,
    empty_world,
    robot_model,
    robot_world,
    terrain_models,
)
from roboaccord_ros.shared.layouts import foxglove, plotjuggler, rviz
from roboaccord_ros.shared.recorder import recorder_qos
from roboaccord_ros.shared.show import Show


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
        texts = {
            f"worlds/{name}.sdf": robot_world(show.setup),
            f"config/rviz/{name}.rviz": rviz(show.setup),
            f"config/foxglove/{name}.json": foxglove(show.setup),
            f"config/plotjuggler/{name}.xml": plotjuggler(show.setup),
        }
        files |= {path: text.encode() for path, text in texts.items()}
    return files
