"""Package the sphere on voxel terrain, for colcon (ament_python) and for pip alike."""

from setuptools import setup

setup()
