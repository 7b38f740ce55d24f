"""The cross-check: an engine against the reference, the analytical model, level by level.

A level is a class in a file of levels/, entered in `LEVELS` there; level.py says what it must do,
docs/new_level.md shows one. Names in `__init__.pyi`, all that other packages may import, stay:
test/test_door.py.

1. accelerations at random states, without time stepping;
2. one control period at a time, from recorded states, in a twin of the engine (`scheme`) and in the
   reference (`one_step`); the same run again (`repeat`);
3. whole trajectories at dt, dt/2, dt/4: agreement is shown by convergence.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
