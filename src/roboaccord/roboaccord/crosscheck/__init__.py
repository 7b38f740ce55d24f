"""Cross-check: each engine against the reference, the analytical model, level by level.

1. Model and accelerations at random states, without time stepping.
2. One control period at a time, from recorded states: against the engine's twin, which has our
   equations of motion and the engine's integration scheme (`scheme`), and against the reference
   (`one_step`); and the same run again (`repeat`).
3. Whole trajectories at physics steps dt, dt/2, dt/4: agreement is shown by convergence.

run.py runs a whole check, recorded.py that of a bag, step_check.py that of a live run. levels/ has
a file for each level (interface in level.py, what it is given in check_case.py), measures/ what the
larger ones measure, causes/ the search for the error that explains a difference, report.py the
result. Levels share runs.py (at each physics step), ticks.py and special_ticks.py (control
periods), columns.py (numbers of a state), restart.py and extrapolation.py (smaller steps), and
level_context.py (what other levels found).

Thresholds marked as tunable may be changed after `make sound` and `make planted`. Names in
`__init__.pyi`, all that other packages may import, and keys of `--json` and summary.json stay.
Tests: src/roboaccord/test, and test_*crosscheck* of robots.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
