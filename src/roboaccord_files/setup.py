"""Package robot files and logs, for colcon (ament_python) and for pip alike."""

import xml.etree.ElementTree as ET
from pathlib import Path

from setuptools import find_packages, setup

NAME = "roboaccord_files"
HERE = Path(__file__).resolve().parent  # where colcon links files, the source
PACKAGE = ET.parse(HERE / "package.xml").getroot()

setup(
    name="roboaccord-files",
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
    package_data={NAME: ["py.typed", "parity/*.html", "rules/*.yaml"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["numpy>=1.26", "roboaccord", "rich>=14.3", "typer>=0.16"],
    extras_require={
        "logs": ["roboaccord[bag,reference]"],
        "page": ["roboaccord[report]"],
        "parity": ["mujoco>=4.0"],
        "test": ["hypothesis>=6.100", "pytest>=8.4"],
    },
    entry_points={
        "roboaccord.commands": [
            "check.FILE = roboaccord_files.rules.command:FILE",
            "check.FILES = roboaccord_files.rules.command:FILES",
            "check.RULE = roboaccord_files.rules.command:RULE",
            "crosscheck.LOG = roboaccord_files.logs.command:LOG",
            "parity = roboaccord_files.parity.command:parity_command",
        ],
        "roboaccord.functions": [
            "Parity = roboaccord_files.parity.result:Parity",
            "crosscheck.LOG = roboaccord_files.logs.door:LOG",
            "findings = roboaccord_files.rules.find:findings",
            "parity = roboaccord_files.parity.door:parity",
            "plot.Parity = roboaccord_files.parity.figure:errors",
            "show.LogReport = roboaccord_files.logs.shown:log_lines",
            "show.Parity = roboaccord_files.parity.shown:shown_of",
        ],
    },
    zip_safe=True,
)
