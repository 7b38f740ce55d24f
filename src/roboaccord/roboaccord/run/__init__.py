"""Runs: factory of simulators, the loop, runners, sweeps, figures of a run.

A name for robots, nodes and pages is a line of `__init__.pyi` (test_door). The room draws and
prints nothing: test_layout refuses an import of `report` here.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
