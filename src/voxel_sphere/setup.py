"""Package the sphere on voxel terrain, for colcon (ament_python) and for pip alike."""

import xml.etree.ElementTree as ET
from glob import glob
from pathlib import Path

from setuptools import find_packages, setup

NAME = "voxel_sphere"
HERE = Path(__file__).resolve().parent  # where colcon links files, the source
PACKAGE = ET.parse(HERE / "package.xml").getroot()

setup(
    name=f"roboaccord-{NAME}",
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
    package_data={NAME: ["py.typed", "**/*.pyi"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
        (f"share/{NAME}/urdf", glob("urdf/*")),
        (f"share/{NAME}/config", glob("config/*")),
        (f"share/{NAME}/scenarios", glob("scenarios/*")),
        (f"share/{NAME}/launch", glob("launch/*.launch.py")),
    ],
    install_requires=[
        "matplotlib>=3.10",
        "numpy>=1.26",
        "pillow>=10",
        "pyyaml>=6",
        "rich>=14.3",
        "roboaccord[reference,report,bag]",
        "scipy>=1.11",
        "typer>=0.16",
    ],
    extras_require={
        "mesh": ["fast-simplification>=0.1.9", "scikit-image>=0.25", "trimesh>=4.6"],
        "test": ["pytest>=8.4"],
    },
    entry_points={"roboaccord.robots": [f"{NAME} = {NAME}.robot:ROBOT"]},
    zip_safe=True,
)
