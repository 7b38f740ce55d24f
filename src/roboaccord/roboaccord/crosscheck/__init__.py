"""The cross-check: an engine against the reference, the analytical model, level by level.

A level may be added: write its `check_...` and `judge_...` in a module of its own, call them in
`run.measure` and `verdict.judge`, and enter its name in `Level` and `Levels` (contract/outcome.py)
and its figures in `report.Report`. Names in `__init__.pyi`, all that other packages may import,
stay: test/test_door.py.

1. accelerations at random states, without time stepping;
2. one control period at a time, from every recorded state, in a twin of the engine (`scheme`) and
   in the reference (`one_step`); the same run again (`repeat`);
3. whole trajectories at dt, dt/2, dt/4: agreement is shown by convergence.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
