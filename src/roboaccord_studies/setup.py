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
            "roller_sphere.claims = roboaccord_studies.roller_sphere.claims:claims_command",
            "roller_sphere.contact = roboaccord_studies.roller_sphere.contact:contact_command",
            "roller_sphere.dribble = roboaccord_studies.roller_sphere.dribble:dribble_command",
            "roller_sphere.reach = roboaccord_studies.roller_sphere.reach:reach_command",
            "roller_sphere.survey = roboaccord_studies.roller_sphere.survey:survey_command",
            "voxel_sphere.accuracy = roboaccord_studies.voxel_sphere.accuracy:accuracy_command",
            "voxel_sphere.mesh = roboaccord_studies.voxel_sphere.export:mesh_command",
            "voxel_sphere.world = roboaccord_studies.voxel_sphere.export:world_command",
        ],
    },
    zip_safe=True,
)
