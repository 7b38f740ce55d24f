"""Contract between controllers, simulators and everything that records them.

A name that other packages may import from here is a line of `__init__.pyi`; to add one, add a line.
Robots, nodes and pages of docs use these names, so none may go: test_door holds the list. This room
imports `numerics` and no room above it, such as `cli` or `report` (test_layout).
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
__all__ += ["lazy_names"]
