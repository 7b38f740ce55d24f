"""The cross-check: an engine against the analytical reference, level by level.

1. accelerations at random states, without time stepping;
2. one control period at a time, from every recorded state, in a twin of the engine (`scheme`) and
   in the reference (`one_step`); the same run again (`repeat`);
3. whole trajectories at dt, dt/2, dt/4: agreement is shown by convergence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names, make_callable

if TYPE_CHECKING:
    from roboaccord.crosscheck.cause import Cause as Cause
    from roboaccord.crosscheck.cause import CauseFinder as CauseFinder
    from roboaccord.crosscheck.cause import Companion as Companion
    from roboaccord.crosscheck.live import BEHIND as BEHIND
    from roboaccord.crosscheck.live import LiveStep as LiveStep
    from roboaccord.crosscheck.live import LiveSteps as LiveSteps
    from roboaccord.crosscheck.recorded import HELD as HELD
    from roboaccord.crosscheck.recorded import RecordedReport as RecordedReport
    from roboaccord.crosscheck.recorded import StepCheck as StepCheck
    from roboaccord.crosscheck.recorded import contacts_of as contacts_of
    from roboaccord.crosscheck.run import run_crosscheck as run_crosscheck

__getattr__, __dir__, __all__ = lazy_names(__name__)
make_callable(__name__)
