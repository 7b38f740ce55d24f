"""Package the views, for colcon (ament_python) and for pip alike."""

import xml.etree.ElementTree as ET
from pathlib import Path

from setuptools import setup

NAME = "roboaccord_view"
HERE = Path(__file__).resolve().parent  # where colcon links files, the source
PACKAGE = ET.parse(HERE / "package.xml").getroot()

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
    ],
    install_requires=[
        "numpy>=1.26",
        "roboaccord[reference,report,bag,view]",
        "rich>=14.3",
        "typer>=0.16",
    ],
    extras_require={"test": ["hypothesis>=6.100", "pytest>=8.4"]},
    entry_points={},
)
