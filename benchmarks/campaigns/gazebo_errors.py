"""Errors planted into the description that Gazebo gets, and what a launch finds of them.

    python -m benchmarks.campaigns.gazebo_errors --out ../gazebo_errors.jsonl

Each is a run of `ros2 launch` with sim:=gz, whose server alone reads the wrong description. Kept
are the launch's exit status, the verdict and the cause that it reports; a campaign that was ended
goes on from the file. It needs Gazebo, its Python bindings and ros2 launch.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.campaigns.rows import campaign_parser, keep, read

PLANTED = "ROBOACCORD_PLANTED"  # environment variable: name of an error
LAUNCH = (
    "ros2", "launch", "snake", "serpenoid.launch.py", "sim:=gz", "headless:=true", "view:=false",
    "record:=false", "duration:=1",
)  # fmt: skip
# Python runs this before anything else, in every process of the launch; one of them simulates.
HOOK = """
import os, sys
name = os.environ.get({variable!r})
if name and "roboaccord_ros.nodes.simulator" in getattr(sys, "orig_argv", []):
    import roboaccord.gazebo.form as form
    from benchmarks.campaigns.gazebo_errors import plant
    meant = form.expand_for_gazebo
    form.expand_for_gazebo = lambda *args, **keys: plant(meant(*args, **keys), name)
"""
Change = Callable[[ET.Element], None]


def scale(path: str, key: str, factor: float) -> Change:
    """Return a change that multiplies an attribute, or the text where it has no name."""

    def change(root: ET.Element) -> None:
        found = root.findall(path)
        assert found, path
        for element in found:
            if key:
                element.set(key, repr(float(element.get(key, "0")) * factor))
            else:
                element.text = repr(float(element.text or "0") * factor)

    return change


def shift(path: str, key: str, axis: int, size: float) -> Change:
    """Return a change that adds to a component of an attribute with three of them."""

    def change(root: ET.Element) -> None:
        element = root.find(path)
        assert element is not None, path
        numbers = [float(word) for word in element.get(key, "0 0 0").split()]
        numbers[axis] += size
        element.set(key, " ".join(map(repr, numbers)))

    return change


def damp(path: str, damping: float) -> Change:
    """Return a change that damps joints [N m s/rad]."""

    def change(root: ET.Element) -> None:
        for joint in root.findall(path):
            ET.SubElement(joint, "dynamics").set("damping", repr(damping))

    return change


LINK, JOINT = "link[@name='segment_{:02d}_link']/inertial", "joint[@name='joint_{:02d}']"
# Sizes that a wrong digit or a tolerance of manufacture makes.
ERRORS: dict[str, tuple[Change, str]] = {
    "none": (lambda root: None, ""),
    "mass of segment 11, 1 %": (scale(LINK.format(11) + "/mass", "value", 1.01), "mass of"),
    "mass of segment 4, 0.1 %": (scale(LINK.format(4) + "/mass", "value", 1.001), "mass of"),
    "inertia of segment 11, 5 %": (
        scale(LINK.format(11) + "/inertia", "izz", 1.05), "inertia of",
    ),
    "centre of segment 5, 0.2 mm": (shift(LINK.format(5) + "/origin", "xyz", 0, 2e-4), "centre of"),
    "mass of every link, 0.5 %": (scale("link/inertial/mass", "value", 1.005), "mass of every"),
    "mu2, 1 %": (scale("gazebo/mu2", "", 1.01), "friction across"),
    "mu1, 1 %": (scale("gazebo/mu1", "", 1.01), "friction along"),
    "damping of joint 11, 1e-4 N m s/rad": (damp(JOINT.format(11), 1e-4), "damping of"),
    "origin of joint 11, 0.1 mm": (
        shift(JOINT.format(11) + "/origin", "xyz", 0, 1e-4), "origin of joint_11",
    ),
    "zero of joint 4, 1 mrad": (
        shift(JOINT.format(4) + "/origin", "rpy", 2, 1e-3), "zero of joint_04",
    ),
}  # fmt: skip


def plant(urdf: str, name: str) -> str:
    """Return a description with an error of ERRORS."""
    root = ET.fromstring(urdf)
    ERRORS[name][0](root)
    return ET.tostring(root, encoding="unicode")


@dataclass(frozen=True)
class Row:
    """Hold what a launch came to.

    Args:
        error: one of ERRORS.
        status: of the launch.
        named: whether the cause has the name that it is to have.
        verdict, cause: as the launch prints them.
    """

    error: str
    status: int
    named: bool
    verdict: str
    cause: str


def carry_out(name: str) -> Row:
    """Launch a run with an error."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(HOOK.format(variable=PLANTED))
        search = [folder, str(Path.cwd()), os.environ.get("PYTHONPATH", "")]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(search), PLANTED: name}
        done = subprocess.run(LAUNCH, env=env, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    verdict = next((line for line in lines if "crosscheck: snake: " in line), "")
    causes = [line.partition("snake: ")[2] for line in lines if "outside since" in line]
    cause = causes[-1] if causes else ""
    wanted = ERRORS[name][1]
    return Row(name, done.returncode, bool(wanted) and wanted in cause, verdict, cause)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table in Markdown."""
    yield "| error in Gazebo's description | status | one step, % of the change | named |"
    yield "|---|---|---|---|"
    for row in rows:
        share = re.search(r"([\d.e+-]+) % of the change", row.verdict)
        name = row.cause.rpartition(": ")[2] if row.named else row.cause or "-"
        yield f"| {row.error} | {row.status} | {share[1] if share else '?'} | {name} |"


def main() -> int:
    """Launch what is not in the file yet, then print the table."""
    parser = campaign_parser(__doc__)
    asked = parser.parse_args()
    done = read(asked.out, Row)
    left = [name for name in ERRORS if name not in {row.error for row in done}]
    done += keep(asked.out, (carry_out(name) for name in left))
    print(*table(done), sep="\n")
    return int(any(row.status != (row.error != "none") for row in done))


if __name__ == "__main__":
    sys.exit(main())
