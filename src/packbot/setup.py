"""Package the Packbot's arm, for colcon (ament_python) and for pip alike."""

from setuptools import setup

setup()
