"""Campaign: the reference against Gazebo, run by run, as a table.

What is compared is in `config/gazebo_table.yaml` of each robot: a list of entries with the keys
`scenario`; `within`, the largest difference that passes, with `unit` and `scale`; `figure` of a
run, or else `signals` as of `accord compare`; `from` and `to`, the times between which; `set`,
changes for all runs; `rows`, lists of further changes; `contacts`, that of Gazebo; `laws`, by name
the changes of the reference, of which the first is held to `within`. The controller assumes the
friction of Gazebo's run in all of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from roboaccord import compare
from roboaccord.bag import read_run
from roboaccord.contract import AccordError, guard
from roboaccord.description import share
from roboaccord.run import RunRequest, metrics_of, run_direct
from roboaccord.scenario import Setup, find_robot, load_scenario, make_scenario, robot_names

FILE = "gazebo_table.yaml"
Entry = Mapping[str, Any]


def rows_of(robot: str, entry: Entry, folder: Path) -> tuple[list[list[str]], bool]:
    """Run an entry; return the rows of its table, titles first, and whether all are within.

    Args:
        robot: name.
        entry: of the robot's file.
        folder: for the bags.

    Raises:
        AccordError: if a run fails.
    """
    laws: Mapping[str, Sequence[str]] = entry.get("laws", {"reference": []})
    figure, scale = entry.get("figure"), float(entry.get("scale", 1.0))
    titles = [robot, *(["Gazebo"] if figure else []), *laws, f"within [{entry['unit']}]"]
    rows, passed = [titles], True
    for k, row in enumerate(entry.get("rows", [[]])):
        changes = [*entry.get("set", []), *row]
        place = folder / f"{robot}_{entry['scenario']}_{k}"
        bag = gazebo_run(robot, entry, changes, place / "gazebo")
        found = scale * figure_of(bag, entry) if figure else 0.0
        cells = [_number(found)] if figure else []
        differences = []
        for name, law in laws.items():
            other = reference_run(robot, entry["scenario"], changes, law, place / name)
            if figure:
                value = scale * figure_of(other, entry)
                cells.append(_number(value))
                differences.append(abs(found - value))
            else:
                differences.append(scale * _largest(entry, other, bag))
                cells.append(_number(differences[-1]))
        passed &= differences[0] <= entry["within"]
        verdict = "" if differences[0] <= entry["within"] else " (missed)"
        title = " ".join(row) or entry["scenario"]
        rows.append([title, *cells, f"{entry['within']:g}{verdict}"])
    return rows, passed


def gazebo_run(robot: str, entry: Entry, changes: Sequence[str], bag: Path) -> Path:
    """Run a scenario in a headless Gazebo by its launch file; return the bag."""
    words = {
        "robot": robot, "scenario": entry["scenario"], "sim": "gz", "headless": "true",
        "pace": "fast", "crosscheck": "false", "rviz": "false", "record": bag,
        "set": " ".join(changes),
    }  # fmt: skip
    if "contacts" in entry:
        words["contacts"] = entry["contacts"]
    arguments = [f"{key}:={value}" for key, value in words.items() if value]
    _run(["ros2", "launch", "roboaccord_ros", "simulate.launch.py", *arguments])
    return bag


def reference_run(
    robot: str, scenario: str, changes: Sequence[str], law: Sequence[str], bag: Path
) -> Path:
    """Run a scenario in the reference, which alone has the changes of a law; return the bag."""
    package = find_robot(robot).package
    given, other = (
        load_scenario(package, robot, scenario, each) for each in (changes, [*changes, *law])
    )
    assumed = Setup.of(given).assumed.scenario.friction
    controller = {**given.controller, "friction": assumed}
    setup = Setup.of(make_scenario({**other.data(), "controller": controller}))
    run_direct(RunRequest(setup=setup, engine="reference", bag=bag))
    return bag


def figure_of(bag: Path, entry: Entry) -> float:
    """Return the figure of a recorded run that an entry names, over the entry's time."""
    run = read_run(bag)
    setup = run.setup()
    end = float(run.trajectory.time[-1])
    part = run.trajectory.window(entry.get("from", 0.0), entry.get("to", end))
    value = metrics_of(setup, part).get(entry["figure"])
    if value is None:
        raise AccordError(f"{setup.robot.name} {setup.scenario.name}: no figure {entry['figure']}")
    return float(value)


def _largest(entry: Entry, reference: Path, bag: Path) -> float:
    window = {"start": entry.get("from"), "stop": entry.get("to")}
    found = compare(reference, bag, signals=entry["signals"], **window)
    return max(d.max for d in found.pairs[0].signals.values())


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 0.1 else f"{value:.3f}"


def _run(command: Sequence[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise AccordError(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        errors = [line for line in (done.stderr + done.stdout).splitlines() if "rror" in line]
        reason = errors[0] if errors else f"status {done.returncode}"
        raise AccordError(f"{' '.join(command[:4])} ...: {reason}")


def tables(robots: Sequence[str], folder: Path) -> bool:
    """Print the tables of robots; return whether all differences are within what they should."""
    passed = True
    for robot in robots:
        file = share(find_robot(robot).package) / "config" / FILE
        for entry in yaml.safe_load(file.read_text("utf-8")) if file.is_file() else []:
            rows, good = rows_of(robot, entry, folder)
            rows.insert(1, ["---"] * len(rows[0]))
            sys.stdout.write("\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n\n")
            sys.stdout.flush()
            passed &= good
    return passed


def main() -> None:
    """Run the command: exit status 1 if a difference is too large, 2 for an error."""
    guard()
    parser = argparse.ArgumentParser("gazebo_table", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("robot", nargs="*", help="default: all")
    parser.add_argument("--out", help="folder for the bags; default: one that is deleted")
    given = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as temporary:
            robots = given.robot or robot_names()
            sys.exit(0 if tables(robots, Path(given.out or temporary)) else 1)
    except AccordError as error:
        sys.stderr.write(f"gazebo_table: {error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
