"""What commands do, as functions: from a robot or a recorded run to a typed result.

Inside: `run` and `read_bag` (runs), `crosscheck` (checks), and what their arguments have in common
(arguments).

Arguments may be added, with defaults; they are options of the command, too (test_modes compares).
What must stay: names, arguments and results of the functions, which users call as `ra.run`,
`ra.crosscheck`, ... (docs/python.md). What another package needs for a function of its own is a
line of `__init__.pyi`. Tests: test_door, test_modes and test_notebook in test/.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
