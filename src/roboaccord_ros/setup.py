"""Package the ROS 2 nodes, for colcon (ament_python) and for pip alike."""

import xml.etree.ElementTree as ET
from glob import glob
from pathlib import Path

from setuptools import setup

NAME = "roboaccord_ros"
HERE = Path(__file__).resolve().parent  # where colcon links files, the source
PACKAGE = ET.parse(HERE / "package.xml").getroot()
# What the workspace shares, by folder: all are links to those at its top. Where colcon links files,
# one that is no longer there leaves a link to nothing.
MODELS = ("models/*/", "models/*/meshes/", "models/*/materials/textures/")
FOLDERS = ("config", "config/*/", "environment", "launch", *MODELS, "worlds")
SHARED = {
    folder: files
    for pattern in FOLDERS
    for folder in glob(pattern)
    if (files := [path for path in glob(f"{folder}/*.*") if Path(path).is_file()])
}
NODES = ("simulator", "controller", "recorder", "crosscheck", "browser")

setup(
    version=PACKAGE.findtext("version"),
    description=PACKAGE.findtext("description"),
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    license=PACKAGE.findtext("license"),
    author=PACKAGE.findtext("maintainer"),
    project_urls={str(url.get("type")): str(url.text) for url in PACKAGE.findall("url")},
    python_requires=">=3.11,<3.14",  # colcon cannot read it in setup.cfg
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        *((f"share/{NAME}/{folder}", files) for folder, files in SHARED.items()),
    ],
    install_requires=["numpy>=1.26", "pyyaml>=6", "roboaccord[reference,report,bag]"],
    extras_require={"test": ["hypothesis>=6.100", "pytest>=8.4"]},
    entry_points={
        "console_scripts": [
            *(f"{node} = {NAME}.nodes.{node}:main" for node in NODES),
            f"gz_adapter = {NAME}.gazebo.gz_adapter:main",
        ],
        "roboaccord.runners": [
            f"ros = {NAME}.run.runner:run_ros",
            f"ros_processes = {NAME}.run.processes:run_ros_processes",
        ],
        "roboaccord.displays": [f"browser.node = {NAME}.nodes.browser:BrowserShell"],
        "roboaccord.engines": [f"gz = {NAME}.gazebo.engine:SPEC"],
        "roboaccord.teleop": [f"ros = {NAME}.run.teleop:connect"],
    },
)
