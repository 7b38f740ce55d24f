"""Package the sphere driven by two rollers, for colcon (ament_python) and for pip alike."""

from setuptools import setup

setup()
