"""The command line `accord`.

Names that commands of robots and other packages import may be added to `__init__.pyi`
(test/test_door.py); a name that is there stays. A command needs no entry: those of `accord` are in
COMMANDS (main.py), a robot's in its class (`cli` in robot.py), another package's are entry points
of `roboaccord.commands`.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
