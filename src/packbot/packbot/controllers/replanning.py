"""Planning of a path for a failed arm at rest, in a thread of its own.

The controller goes on holding the arm meanwhile. It takes the path `THOUGHT` of simulated time
after the start, however fast the machine is, and waits for a slow one: results must not depend on
the machine. THOUGHT must therefore stay simulated time and WAIT wall time; both may be tuned.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from roboaccord.contract import Array, Fault
from roboaccord.scenario import Setup

from packbot.planning.failed_arm import FailedArm
from packbot.planning.recovery import Recoverer, Recovery

THOUGHT = 0.2  # s of simulated time from the start of planning until the path begins
WAIT = 5.0  # s of wall time for which one control period waits for the plan


class Replanner:
    """One plan at a time, for the failures and the resting pose at which it is begun.

    Args:
        setup: robot and scenario.
        target: where the finger tips, or what the camera looks at, shall be (3,) [m].
        watch: distance from which the camera shall look at the target [m], or 0.
        margin: that the path keeps from touching [m].
    """

    def __init__(self, setup: Setup, target: Array, watch: float, margin: float) -> None:
        self._setup, self._target, self._watch, self.margin = setup, target, watch, margin
        self.discard()

    def discard(self) -> None:
        """Leave a plan that no longer fits; its thread ends by itself."""
        self._plan: Future[tuple[Recoverer, Recovery]] | None = None
        self._start = 0.0  # s

    @property
    def pending(self) -> bool:
        """Whether a plan is being made."""
        return self._plan is not None

    def advance(
        self, time: float, faults: Sequence[Fault], q: Array, seed: int, planner: Recoverer | None
    ) -> tuple[Recoverer, Recovery] | None:
        """Return the planner and its path once `THOUGHT` has passed; begin to plan if need be.

        Args:
            time: [s].
            faults: of the arm.
            q: angles of the resting pose (7,) [rad].
            seed: of the sampling.
            planner: that is used again if it was made for this arm and pose.
        """
        if self._plan is None:
            pool = ThreadPoolExecutor(1)
            self._plan = pool.submit(self._planned, tuple(faults), q, seed, planner)
            pool.shutdown(wait=False)  # its thread ends with the plan
            self._start = time
        wait([self._plan], WAIT)
        return self._plan.result() if time - self._start >= THOUGHT else None

    def _planned(
        self, faults: Sequence[Fault], q: Array, seed: int, planner: Recoverer | None
    ) -> tuple[Recoverer, Recovery]:
        # An arm of its own: the controller uses another one in the meantime.
        arm = FailedArm(self._setup, faults, q=q, watch=self._watch)
        if planner is None or not planner.starts_at(arm, q):
            planner = Recoverer(arm, q, seed, self.margin)
        return planner, planner.reach(self._target)
