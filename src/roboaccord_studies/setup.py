"""Package the studies, for colcon (ament_python) and for pip alike."""

import xml.etree.ElementTree as ET
from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

NAME = "roboaccord_studies"
HERE = Path(__file__).resolve().parent  # where colcon links files, the source
PACKAGE = ET.parse(HERE / "package.xml").getroot()
COMMANDS = {  # that it adds to a robot's, by robot: name and function
    "packbot": {
        "detect": "detect:detect_command",
        "dynamics": "dynamics:dynamics_command",
        "equilibria": "equilibria:equilibria_command",
        "figures": "figures:figures_command",
        "identify": "identify:identify_command",
        "look.hulls": "hulls:HULLS",
        "recover": "recover:recover_command",
        "workspace": "workspace:workspace_command",
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
        (f"share/{NAME}/scenarios/packbot", glob("scenarios/packbot/*")),
        (f"share/{NAME}/launch", glob("launch/*.launch.py")),
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
            f"identify = {NAME}.identify:identify_command",
            *(
                f"{robot}.{name} = {NAME}.{robot}.cli.{function}"
                for robot, commands in COMMANDS.items()
                for name, function in commands.items()
            ),
        ],
        "roboaccord.controllers": [
            f"packbot.detected = {NAME}.packbot.detection.detected:Detected",
            f"packbot.identified = {NAME}.packbot.identification.known:KnownArm",
            f"packbot.identify = {NAME}.packbot.identification.exciting:IdentificationController",
        ],
        "roboaccord.scenarios": [
            f"packbot = {NAME}",
        ],
    },
    zip_safe=True,
)
