"""Package the ROS 2 nodes, for colcon (ament_python) and for pip alike.

Dependencies, entry points and versions are in setup.cfg; here is what is installed beside the
modules. A folder of shared files is added to FOLDERS or MODELS; its source is at the top of the
workspace, and a link to it here. `python_requires` must be text in this file, for colcon reads no
other.
"""

from glob import glob
from pathlib import Path

from setuptools import setup

NAME = "roboaccord_ros"
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

setup(
    python_requires=">=3.11,<3.14",  # as text: colcon reads no other
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        *((f"share/{NAME}/{folder}", files) for folder, files in SHARED.items()),
    ],
)
