"""Package the sphere driven by two rollers, for colcon (ament_python) and for pip alike."""

from glob import glob

from setuptools import find_packages, setup

NAME = "roller_sphere"

setup(
    name=f"roboaccord-{NAME}",
    version="0.1.0",
    description="A sphere driven by two constraint rollers, with slip",
    license="Apache-2.0",
    author="The roboaccord authors",
    python_requires=">=3.11,<3.14",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["py.typed"]},
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
        "rich>=14.3",
        "roboaccord[reference,report,bag]",
        "scipy>=1.11",
        "typer>=0.16",
    ],
    extras_require={"test": ["hypothesis>=6.100", "pytest>=8.4"]},
    entry_points={"roboaccord.robots": [f"{NAME} = {NAME}.robot:ROBOT"]},
    zip_safe=True,
)
