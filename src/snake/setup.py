"""Package the snake, for colcon (ament_python) and for pip alike."""

from setuptools import setup

setup()
