"""Package the ROS 2 nodes, for colcon (ament_python) and for pip alike.

To install another folder of shared files, add it to FOLDERS or MODELS, with a link to it here.
Dependencies, entry points and the version are changed in setup.cfg, and package.xml has the same.
`python_requires` stays text in this file, for colcon reads no other.
"""

from glob import glob
from pathlib import Path

from setuptools import setup

NAME = "roboaccord_ros"
# What the workspace shares, by folder: all are links to those at its top. Where colcon links files,
# one that is no longer there leaves a link to nothing.
MODELS = ("models/*/", "models/*/meshes/", "models/*/materials/textures/")
FOLDERS = ("config", "config/*/", "environment", "launch", *MODELS, "worlds")
SHARED = dict[str, list[str]]()
for pattern in FOLDERS:
    for folder in glob(pattern):
        files = [path for path in glob(f"{folder}/*.*") if Path(path).is_file()]
        if files:
            SHARED[folder] = files

setup(
    python_requires=">=3.11,<3.15",  # as text: colcon reads no other
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        *((f"share/{NAME}/{folder}", files) for folder, files in SHARED.items()),
    ],
)
