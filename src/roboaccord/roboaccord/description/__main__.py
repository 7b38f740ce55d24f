"""Print the URDF of a robot's file: python -m roboaccord.description FILE.

For scripts and build files that want plain URDF without the command line of `accord`; the one
argument and the output stay as they are. How files are read may be changed in urdf_file.py, not
here.
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
