"""Package the studies, for colcon (ament_python) and for pip alike."""

import xml.etree.ElementTree as ET
from pathlib import Path

from setuptools import find_packages, setup

NAME = "roboaccord_studies"
HERE = Path(__file__).resolve().parent  # where colcon links files, the source
PACKAGE = ET.parse(HERE / "package.xml").getroot()
COMMANDS = {  # that it adds to a robot's, by robot: name and function
    "monkeybot": {
        "basin": "basin:basin_command",
        "continue": "follow:continue_command",
        "design": "design:design_command",
        "find": "find:find_command",
        "gaits": "gaits:gaits_command",
        "landscape": "landscape:landscape_command",
        "lqr": "lqr:lqr_command",
        "robust": "robust:robust_command",
        "stability": "stability:stability_command",
        "stable": "stable:stable_command",
    },
    "snake": {
        "adapt": "adapt:adapt_command",
        "figures": "figures:figures_command",
        "gait": "gait:gait_command",
        "optimise": "optimise:optimise_command",
    },
}

setup(
    name="roboaccord-studies",
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
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=[
        "numpy>=1.26",
        "roboaccord[reference,report,bag]",
        "rich>=14.3",
        "scipy>=1.11",
        "typer>=0.16",
    ],
    extras_require={"test": ["hypothesis>=6.100", "pytest>=8.4"]},
    entry_points={
        "roboaccord.commands": [
            f"{robot}.{name} = {NAME}.{robot}.cli.{function}"
            for robot, commands in COMMANDS.items()
            for name, function in commands.items()
        ],
    },
    zip_safe=True,
)
