"""Contract between controllers, simulators and everything that records them.

What other packages import from here is a line of `__init__.pyi`; lines may be added. Robots, nodes
and pages of docs use these names, so all must stay: test_door compares the list. This folder
imports `numerics` and no folder above it, such as `cli` or `report` (test_layout).
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
__all__ += ["lazy_names"]
