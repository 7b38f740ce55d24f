"""Package the views, for colcon (ament_python) and for pip alike."""

import xml.etree.ElementTree as ET
from pathlib import Path

from setuptools import find_packages, setup

NAME = "roboaccord_view"
HERE = Path(__file__).resolve().parent  # where colcon links files, the source
PACKAGE = ET.parse(HERE / "package.xml").getroot()

setup(
    name="roboaccord-view",
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
        "pillow>=10",
        "roboaccord[reference,report,bag]",
        "rich>=14.3",
        "scipy>=1.11",
        "typer>=0.16",
        "viser>=1.1",
    ],
    extras_require={
        "ros": ["roboaccord-ros"],  # for the node
        "test": ["hypothesis>=6.100", "pytest>=8.4"],
    },
    entry_points={
        "console_scripts": [f"browser = {NAME}.node:main"],
        "roboaccord.commands": [f"view = {NAME}.door:view_command"],
        "roboaccord.displays": [
            f"browser = {NAME}.live:LiveView",
            f"browser.node = {NAME}.node:BrowserShell",
        ],
        "roboaccord.functions": [f"view = {NAME}.door:view"],
    },
    zip_safe=True,
)
