"""`make ros` on a machine that lacks things: what it lists, and what it asks apt and rosdep for."""

from __future__ import annotations

import platform
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from workspace import ROOT, clean_environment

SCRIPT = ROOT / ".ci" / "ros_machine.py"
STUB = '#!/bin/sh\necho "$(basename "$0") $*" >> {log}\nexit {status}\n'


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Return the file to which the stubs of apt-get, rosdep and sudo write their command lines."""
    return tmp_path / "log"


def make_ros(log: Path, *words: str, tools: str = "apt-get sudo rosdep", status: int = 0) -> str:
    """Run what `make ros` asks, with ROS in a folder that has nothing but rclpy and launch."""
    stubs, prefix = log.with_name("bin"), log.with_name("ros")
    stubs.mkdir(exist_ok=True)
    for tool in tools.split():
        (stubs / tool).write_text(STUB.format(log=log, status=status))
        (stubs / tool).chmod(0o755)
    for package in ("rclpy", "launch"):
        (prefix / "share" / package).mkdir(parents=True, exist_ok=True)
        (prefix / "share" / package / "package.xml").touch()
    path = {"PATH": f"{stubs}:/usr/bin:/bin", "AMENT_PREFIX_PATH": str(prefix)}
    done = subprocess.run(
        [sys.executable, SCRIPT, *words], capture_output=True, text=True, check=False,
        env=clean_environment(ROS_DISTRO="jazzy", **path),
    )  # fmt: skip
    assert done.returncode == (0 if words and not status else 2), done
    return done.stdout


def test_all_that_is_missing_is_listed_with_what_it_is_for(log: Path) -> None:
    """Nothing is installed; what is there, and what the workspace itself has, is left out."""
    listed = make_ros(log, tools="apt-get")
    uses = dict(re.findall(r"missing \w+ \w+ +(\S+) +(.+)", listed))
    assert uses["python3-rosdep"] == "installs what package.xml declares"
    assert uses["gz_sim_vendor"] == "Gazebo Sim, for Python, too"
    assert uses["launch_ros"] == "launch files"
    assert not {"launch", "rclpy", "python3-numpy", "roboaccord", "snake"} & uses.keys()
    assert listed.endswith("make ros YES=1\n")
    assert not log.exists()


def test_tools_come_by_apt_and_then_keys_by_rosdep(log: Path) -> None:
    make_ros(log, "--install")
    lines = [re.sub("^sudo ", "", line) for line in log.read_text().splitlines()]
    apt = [line.split()[1] for line in lines if line.startswith("apt-get")]
    assert apt in ([], ["update", "install"])  # colcon may be there
    keys = "rosdep install --from-paths src --ignore-src --rosdistro jazzy -y"
    assert lines[-2:] == ["rosdep update --rosdistro jazzy", keys]


def test_a_command_that_fails_is_named_in_one_line(log: Path) -> None:
    last = make_ros(log, "--install", status=1).splitlines()[-1]
    assert "returned non-zero exit status 1" in last


@pytest.mark.parametrize(
    ("ubuntu", "sourced", "release"),
    [("24.04", "", "jazzy"), ("26.04", "", "lyrical"), ("12", "", "jazzy"), ("26.04", "a", "a")],
)
def test_the_release_of_ros_is_the_sourced_one_or_that_of_this_ubuntu(
    ubuntu: str, sourced: str, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "freedesktop_os_release", lambda: {"VERSION_ID": ubuntu})
    monkeypatch.setenv("ROS_DISTRO", sourced)
    assert runpy.run_path(str(SCRIPT))["DISTRO"] == release
