"""The command line `accord`.

Add to `__init__.pyi` what commands of robots and other packages may import (test/test_door.py); a
name that is there stays. A command needs no entry: those of `accord` are in COMMANDS (main.py), a
robot's in its class (`cli` in robot.py), another package's are entry points of
`roboaccord.commands`.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
