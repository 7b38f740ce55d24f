"""The levels of parity, in the order in which they are measured: one file each.

To add one, write its file and enter it in LEVELS.
"""

from typing import Any

from roboaccord_files.parity.bench import FileLevel
from roboaccord_files.parity.reading import ReadingLevel
from roboaccord_files.parity.shipped import ShippedLevel

LEVELS: tuple[FileLevel[Any], ...] = (ReadingLevel(), ShippedLevel())
