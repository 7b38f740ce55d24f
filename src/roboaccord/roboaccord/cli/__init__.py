"""The command line `accord`.

`__init__.pyi` lists what commands of robots and of other packages may import: options, progress
bars, tables, folders. A command of `accord` itself needs no entry there but one in `COMMANDS`
(main.py); a robot names its commands in its class (robot.py), and another package in the entry
points `roboaccord.commands`.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
