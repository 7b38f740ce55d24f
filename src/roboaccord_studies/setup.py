"""Package the studies, for colcon (ament_python) and for pip alike."""

import xml.etree.ElementTree as ET
from pathlib import Path

from setuptools import find_packages, setup

NAME = "roboaccord_studies"
HERE = Path(__file__).resolve().parent  # where colcon links files, the source
PACKAGE = ET.parse(HERE / "package.xml").getroot()

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
            "monkeybot.basin = roboaccord_studies.monkeybot.cli.basin:basin_command",
            "monkeybot.continue = roboaccord_studies.monkeybot.cli.follow:continue_command",
            "monkeybot.design = roboaccord_studies.monkeybot.cli.design:design_command",
            "monkeybot.find = roboaccord_studies.monkeybot.cli.find:find_command",
            "monkeybot.gaits = roboaccord_studies.monkeybot.cli.gaits:gaits_command",
            "monkeybot.landscape = roboaccord_studies.monkeybot.cli.landscape:landscape_command",
            "monkeybot.lqr = roboaccord_studies.monkeybot.cli.lqr:lqr_command",
            "monkeybot.robust = roboaccord_studies.monkeybot.cli.basin:robust_command",
            "monkeybot.stability = roboaccord_studies.monkeybot.cli.stability:stability_command",
            "monkeybot.stable = roboaccord_studies.monkeybot.cli.gaits:stable_command",
            "snake.adapt = roboaccord_studies.snake.cli.adapt:adapt_command",
            "snake.figures = roboaccord_studies.snake.cli.figures:figures_command",
            "snake.gait = roboaccord_studies.snake.cli.gait:gait_command",
            "snake.optimise = roboaccord_studies.snake.cli.optimise:optimise_command",
        ],
    },
    zip_safe=True,
)
