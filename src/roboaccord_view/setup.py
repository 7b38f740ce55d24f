"""Package the views, for colcon (ament_python) and for pip alike."""

from setuptools import setup

setup(python_requires=">=3.11,<3.14")  # as text: colcon reads no other
