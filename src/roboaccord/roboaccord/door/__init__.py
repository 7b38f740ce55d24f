"""What commands do, as functions of the Python API: from a robot or a recorded run to a result.

Inside are: `run` and `read_bag` (runs), `crosscheck` (checks), `make_env` (env), and what their
arguments have in common (arguments). They are called as `ra.run`, ...
(docs/python.md), and the commands of cli call them, too.

Arguments may be added with defaults; they are then options of the command (test_modes compares).
What must stay: names, arguments and results of the functions. What another package needs for a
function of its own is a line of `__init__.pyi`. Tests: test_door, test_modes and test_notebook in
test/.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
