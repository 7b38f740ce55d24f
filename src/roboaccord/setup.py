"""Package the simulator-independent core, for colcon (ament_python) and for pip alike."""

import xml.etree.ElementTree as ET
from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

NAME = "roboaccord"
HERE = Path(__file__).resolve().parent  # where colcon links files, the source
PACKAGE = ET.parse(HERE / "package.xml").getroot()
ROS = [f"{name}~=5.3" for name in (
    "ros-diagnostic-msgs", "ros-geometry-msgs", "ros-nav-msgs", "ros-sensor-msgs", "ros-std-msgs",
    "ros-std-srvs", "ros-trajectory-msgs", "ros-visualization-msgs",
)]  # fmt: skip
EXTRAS = {
    "bag": ["mcap>=1.2", "rosbags>=0.11.7,<0.12", "zstandard>=0.20"],
    "cluster": ["dask>=2025.1", "distributed>=2025.1"],
    "engines": ["dartpy>=6.20", "mujoco>=4.0"],
    "parity": ["mujoco>=4.0"],
    "reference": ["joblib>=1.5", "numba>=0.60,<0.69", "scipy>=1.11"],
    "report": ["jinja2>=3.1", "matplotlib>=3.10", "pillow>=10", "plotly>=5.20"],
    # ROS 2 Jazzy as wheels, where ROS itself is not installed
    "ros": ["ros-jazzy-rclpy[fastrtps]~=7.1", "ros-rosgraph-msgs~=2.0", *ROS],
    "test": ["hypothesis>=6.100", "pytest>=8.4"],
    "view": ["viser>=1.1"],
}
ALL = ("bag", "cluster", "engines", "reference", "report", "ros", "view")

setup(
    name=NAME,
    version=PACKAGE.findtext("version"),
    description=PACKAGE.findtext("description"),
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license=PACKAGE.findtext("license"),
    license_files=["LICENSE"],
    author=PACKAGE.findtext("maintainer"),
    project_urls={str(url.get("type")): str(url.text) for url in PACKAGE.findall("url")},
    classifiers=[
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering",
    ],
    python_requires=">=3.11,<3.14",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={
        NAME: [
            "py.typed",
            "**/*.pyi",
            "report/*.html",
            "report/*.css",
            "contract/*.yaml",
            "description/*.md",
            "bag/*.yaml",
            "gazebo/*.yaml",
            "gazebo/templates/*",
            "testing/descriptions/*",
            "cli/templates/**/*.jinja",
        ]
    },
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/config", glob("config/*.yaml")),
        (f"share/{NAME}/config/teleop", glob("config/teleop/*.yaml")),
        (f"share/{NAME}/scenarios", glob("scenarios/*.yaml")),
    ],
    # What `accord parity` and `check` need; every other command needs extras (contract/errors.py).
    # Below the next of numba, rosbags and xacro: of these, private parts are used (test_bounds).
    install_requires=[
        "lazy-loader>=0.4",
        "numpy>=1.26",
        "pydantic>=2.5",
        "pyyaml>=6",
        "rich>=14.3",
        "typer>=0.16",
        "xacro>=2.0,<3",
    ],
    extras_require={**EXTRAS, "all": [each for name in ALL for each in EXTRAS[name]]},
    entry_points={
        "console_scripts": ["accord = roboaccord.cli.start:main"],
        "roboaccord.engines": [
            "dart = roboaccord.engines.dart:SPEC",
            "mujoco = roboaccord.engines.mujoco:SPEC",
            "sdformat = roboaccord.gazebo:SDFORMAT",
        ],
        "roboaccord.robot_files": [
            "urdf = roboaccord.robots.file:FileRobot",
            "xacro = roboaccord.robots.file:FileRobot",
            "sdf = roboaccord.robots.file:FileRobot",
            "xml = roboaccord.robots.file:FileRobot",
            "mjcf = roboaccord.robots.file:FileRobot",
        ],
        "roboaccord.runners": ["direct = roboaccord.run.runner:run_direct"],
        "roboaccord.twins": ["gz = roboaccord.gazebo.twin:recorded_twin"],
    },
    zip_safe=True,
)
