"""Print the URDF of a robot's file: python -m roboaccord.description FILE.

It is for scripts and build files that need plain URDF without the command line of `accord`. Xacro
is expanded; how files are read is in urdf_file.py. The argument and the output stay as they are.
"""

from __future__ import annotations

import sys
from pathlib import Path

from roboaccord.contract.errors import AccordError
from roboaccord.description.urdf_file import read_urdf

try:
    sys.stdout.write(read_urdf(Path(sys.argv[1])).text)
except AccordError as error:
    sys.exit(f"error: {error}")
