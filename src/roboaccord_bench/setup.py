"""Package the contact bench, for colcon (ament_python) and for pip alike.

Dependencies, data files and entry points may be changed in setup.cfg. `python_requires` must stay
text below, the same in every package.
"""

from setuptools import setup

setup(python_requires=">=3.11,<3.15")  # as text: colcon reads no other
