"""Package the arm, for colcon (ament_python) and for pip alike."""

from glob import glob

from setuptools import find_packages, setup

NAME = "arm"

setup(
    name=f"roboaccord-{NAME}",
    version="0.1.0",
    description="A pendulum on a stand",
    license="Apache-2.0",
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
    install_requires=["numpy>=1.26", "roboaccord"],
    extras_require={"test": ["pytest"]},
    entry_points={"roboaccord.robots": [f"{NAME} = {NAME}.robot:ROBOT"]},
    zip_safe=True,
)
