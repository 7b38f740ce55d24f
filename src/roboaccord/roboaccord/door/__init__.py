"""What a command does, as a function: from a robot or a recorded run to a result with its type.

Users call the functions as `ra.run`, `ra.crosscheck`, ...: their names and parameters stay, new
ones may be added with defaults, and are options of the command, too (test_modes compares). Add to
`__init__.pyi` what another package needs for a function of its own.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
