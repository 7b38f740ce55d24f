"""The cross-check: an engine against the analytical reference, level by level.

What other packages and front-door functions may import is listed in `__init__.pyi`; a name is added
there, and test/test_door.py refuses imports beside it. A new level is a `check_...` and a
`judge_...` in a module of its own, called by `run.measure` and `verdict.judge`; its name goes into
`Level` and `Levels` (contract/outcome.py) and its figures into `report.Report`.

1. accelerations at random states, without time stepping;
2. one control period at a time, from every recorded state, in a twin of the engine (`scheme`) and
   in the reference (`one_step`); the same run again (`repeat`);
3. whole trajectories at dt, dt/2, dt/4: agreement is shown by convergence.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
