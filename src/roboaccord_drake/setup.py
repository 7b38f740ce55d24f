"""Package Drake as an engine, for colcon (ament_python) and for pip alike."""

from setuptools import find_packages, setup

NAME = "roboaccord_drake"

setup(
    name="roboaccord-drake",
    version="0.1.0",
    description="Drake as an engine of roboaccord",
    license="Apache-2.0",
    author="The roboaccord authors",
    python_requires=">=3.11,<3.14",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={NAME: ["py.typed"]},
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (f"share/{NAME}", ["package.xml"]),
    ],
    install_requires=["drake>=1.51", "numpy>=1.26", "roboaccord[reference,report,bag]"],
    extras_require={"test": ["pytest>=8.4"]},
    entry_points={"roboaccord.engines": [f"drake = {NAME}:SPEC"]},
    zip_safe=True,
)
