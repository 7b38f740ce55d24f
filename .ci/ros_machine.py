"""List or install the packages that a machine with ROS 2 lacks for this workspace, for `make ros`.

It needs the standard library alone, and the network only by apt-get and rosdep.
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]
RELEASES = TOP / "src/roboaccord_ros/roboaccord_ros/gazebo/releases.toml"


def distribution() -> str:
    """Return the name of the sourced release of ROS, or else of that for this Ubuntu, or Jazzy."""
    of_ubuntu, version = {}, ""
    with suppress(ImportError, OSError):  # no tomllib before Python 3.11, which `main` refuses
        import tomllib

        entries = tomllib.loads(RELEASES.read_text(encoding="utf-8"))["releases"]
        of_ubuntu = {entry["ubuntu"]: entry["ros"] for entry in entries}
        version = platform.freedesktop_os_release().get("VERSION_ID", "")
    return os.environ.get("ROS_DISTRO") or of_ubuntu.get(version, "jazzy")


DISTRO = distribution()
PREFIXES = os.environ.get("AMENT_PREFIX_PATH") or f"/opt/ros/{DISTRO}"
PYTHONS = (3, 11), (3, 14)
OURS = ("roboaccord", "roboaccord_ros")  # first, as they explain what robots also need
MODULES = {"pil": "PIL", "protobuf": "google.protobuf"}
ROSDEP_SOURCES = Path("/etc/ros/rosdep/sources.list.d")


def missing_tools() -> Iterator[tuple[str, str]]:
    """Yield each apt package that is missing before rosdep can be asked, and what it is for."""
    if not any((Path(prefix) / "share/rclpy").is_dir() for prefix in PREFIXES.split(os.pathsep)):
        yield f"ros-{DISTRO}-ros-base", "ROS 2 itself, from its own apt source: docs.ros.org"
    if not shutil.which("rosdep"):
        yield "python3-rosdep", "installs what package.xml declares"
    if not shutil.which("colcon"):
        yield "python3-colcon-common-extensions", "builds and tests the packages"
    if not importlib.util.find_spec("ensurepip"):
        yield "python3-venv", "makes .venv_ros"


def missing_keys() -> Iterator[tuple[str, str]]:
    """Yield each rosdep key of the package.xml files that is missing, and what it is for."""
    manifests = sorted(TOP.glob("src/*/package.xml"), key=lambda path: path.parent.name not in OURS)
    done = {path.parent.name for path in manifests}
    for path in manifests:
        parser = ET.XMLParser(target=ET.TreeBuilder(insert_comments=True))
        elements = list(ET.parse(path, parser).getroot())
        for element, after in pairwise(elements):
            key = element.text or ""
            if "depend" not in str(element.tag) or key in done or is_there(key):
                continue
            done.add(key)
            explained = not isinstance(after.tag, str) and "\n" not in (element.tail or "")
            yield key, (after.text or "").strip() if explained else f"package {path.parent.name}"


def is_there(key: str) -> bool:
    """Return whether a rosdep key is installed: a ROS package, a module of Python, or libGL."""
    if key == "opengl":
        return ctypes.util.find_library("GL") is not None
    if key.startswith("python3-"):
        name = key.removeprefix("python3-")
        try:
            return importlib.util.find_spec(MODULES.get(name, name)) is not None
        except ModuleNotFoundError:
            return False
    folders = [Path(prefix) / "share" / key for prefix in PREFIXES.split(os.pathsep)]
    return any((folder / "package.xml").is_file() for folder in folders)


def install(packages: list[str]) -> None:
    """Install apt packages, and then the rosdep keys.

    Raises:
        CalledProcessError: if a command fails.
    """
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    apt = [*sudo, "apt-get", "install", "-y", "--no-install-recommends", *packages]
    commands = [[*sudo, "apt-get", "update"], apt] if packages else []
    if not any(ROSDEP_SOURCES.glob("*.list")):
        commands.append([*sudo, "rosdep", "init"])
    commands.append(["rosdep", "update", "--rosdistro", DISTRO])
    words = ["--from-paths", "src", "--ignore-src", "--rosdistro", DISTRO, "-y"]
    for command in (*commands, ["rosdep", "install", *words]):
        print("$", *command, flush=True)
        subprocess.run(command, cwd=TOP, check=True)


def main(words: list[str]) -> int:
    """List what is missing, with status 2, or install it; or print the name of the ROS release."""
    if "--distro" in words:
        print(DISTRO)
        return 0
    version = sys.version_info[:2]
    if not PYTHONS[0] <= version <= PYTHONS[1]:
        print(f"make ros: Python 3.11 to 3.14 is needed, not {version[0]}.{version[1]}")
        return 2
    tools, keys = list(missing_tools()), list(missing_keys())
    for kind, found in (("apt package", tools), ("rosdep key", keys)):
        for name, purpose in found:
            print(f"missing {kind:11}  {name:32}  {purpose}", flush=True)
    if not tools and not keys:
        return 0
    if "--install" not in words:
        print("make ros: install them by: make ros YES=1")
        return 2
    try:
        install([name for name, _ in tools])
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        print(f"make ros: {error}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
