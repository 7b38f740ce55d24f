"""Package the simulator-independent core, for colcon (ament_python) and for pip alike."""

from glob import glob

from setuptools import find_packages, setup

NAME = "roboaccord"

setup(
    name=NAME,
    version="0.1.0",
    description="One robot description, many simulators, and the differences explained",
    license="Apache-2.0",
    author="The roboaccord authors",
    python_requires=">=3.11,<3.14",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={
        NAME: [
            "py.typed",
            "report/*.html",
            "report/*.css",
            "description/*.md",
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
        "numpy>=1.26",
        "pydantic>=2.5",
        "pyyaml>=6",
        "rich>=14.3",
        "typer>=0.16",
        "xacro>=2.0,<3",
    ],
    extras_require={
        "bag": ["mcap>=1.2", "rosbags>=0.11.7,<0.12", "zstandard>=0.20"],
        "cluster": ["dask>=2025.1", "distributed>=2025.1"],
        "engines": ["dartpy>=6.20", "mujoco>=4.0"],
        "parity": ["mujoco>=4.0"],
        "reference": ["joblib>=1.5", "numba>=0.60,<0.69", "scipy>=1.11"],
        "report": ["jinja2>=3.1", "matplotlib>=3.10", "pillow>=10", "plotly>=5.20"],
        "test": ["hypothesis>=6.100", "pytest>=8.4"],
        "view": ["viser>=1.1"],
    },
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
    },
    zip_safe=True,
)
