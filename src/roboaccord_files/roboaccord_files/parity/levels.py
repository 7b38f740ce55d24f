"""The levels of a parity check, in the order in which they are measured.

A level is one question to an engine about the file of a robot: how it reads the robot without
shapes (reading.py), and whether it loads the file with its meshes (shipped.py). answers.py measures
them in each engine. A further level is a module like these, and an entry of LEVELS.
"""

from typing import Any

from roboaccord_files.parity.bench import FileLevel
from roboaccord_files.parity.reading import ReadingLevel
from roboaccord_files.parity.shipped import ShippedLevel

LEVELS: tuple[FileLevel[Any], ...] = (ReadingLevel(), ShippedLevel())
