"""Planning of a path for a failed arm at rest, in a thread of its own.

The controller `recover` (recovery.py) holds the arm in the meantime. It takes the path when the
simulated time `PLANNING_TIME` has passed since planning began, however fast the machine is, and
waits if the machine is slow, so that results do not depend on the machine. PLANNING_TIME and
MOST_WAIT may be tuned.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from roboaccord.contract import Array, Fault, RobotState
from roboaccord.scenario import Setup

from packbot.planning.failed_arm import FailedArm
from packbot.planning.recovery import Recoverer, Recovery

# s of simulated time; from the start of planning until the path begins: of the order of what a plan
# takes, and far less than the wait for rest before it.
PLANNING_TIME = 0.2
# s of wall time; each control period waits up to that long for the plan: 100 s in the 20 periods of
# PLANNING_TIME, in which a command still comes often enough to show that the controller is alive.
MOST_WAIT = 5.0


class Replanner:
    """Planner in a thread, which plans one path at a time.

    Args:
        setup: robot and scenario.
        target: desired position of the finger tips, or of the point that is watched (3,) [m].
        watch: distance from which the camera has to look at the target [m], or 0.
        margin: distance that the path keeps from contact [m].
    """

    def __init__(self, setup: Setup, target: Array, watch: float, margin: float) -> None:
        self._setup, self.margin = setup, margin
        self._target, self._watch = target, watch
        self.discard()

    def discard(self) -> None:
        """Discard a plan that no longer fits; its thread ends by itself."""
        self._plan: Future[tuple[Recoverer, Recovery]] | None = None
        self._start = 0.0  # simulated time at which planning began [s]

    @property
    def pending(self) -> bool:
        """Whether a plan is being made."""
        return self._plan is not None

    def advance(
        self, state: RobotState, faults: Sequence[Fault], seed: int, planner: Recoverer | None
    ) -> tuple[Recoverer, Recovery] | None:
        """Return the planner and its result once `PLANNING_TIME` has passed; before, return None.

        The first call starts the planning. Each call waits for its end, but at most MOST_WAIT.

        Args:
            state: present state, at rest in the first call.
            faults: faults of the arm.
            seed: seed of the random samples.
            planner: earlier planner, which is used again if it fits this arm and pose.
        """
        if self._plan is None:
            pool = ThreadPoolExecutor(1)
            self._plan = pool.submit(self._make_plan, tuple(faults), state.q, seed, planner)
            pool.shutdown(wait=False)  # its thread ends with the plan
            self._start = state.time
        wait([self._plan], MOST_WAIT)
        return self._plan.result() if state.time - self._start >= PLANNING_TIME else None

    def _make_plan(
        self, faults: Sequence[Fault], q: Array, seed: int, planner: Recoverer | None
    ) -> tuple[Recoverer, Recovery]:
        """Return the planner for the arm at rest at angles q (7,) [rad], and its result.

        It runs in the thread, with an arm of its own, as the controller uses another one meanwhile.
        """
        arm = FailedArm(self._setup, faults, q=q, watch=self._watch)
        if planner is None or not planner.starts_at(arm, q):
            planner = Recoverer(arm, q, seed, self.margin)
        return planner, planner.reach(self._target)
