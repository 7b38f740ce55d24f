"""Runs: factory of simulators, the loop, runners, sweeps, figures of a run.

Names for robots, nodes and pages may be added, as lines of `__init__.pyi` (test_door); those there
stay. This folder must draw and print nothing: test_layout refuses an import of `report` here.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
