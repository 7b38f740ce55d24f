"""The reference beside a run, up to its horizon, and the cause of a run that is outside.

RECENT, PATIENCE, JUDGED_EVERY and LEVELS may be tuned: how much is kept, how long and how often a
cause is looked for, and in how many steps the reference fades. HORIZON, and NUDGE of runs.py, are
stated in docs/ros.md: change both. Which cause is named is decided in causes/.

Two copies of the reference go from states that differ by `NUDGE`. Where they have parted by
`HORIZON`, nothing of the motion follows from its start any more [Lighthill 1986, "The recently
recognized failure of predictability in Newtonian dynamics"]: both are then set anew to the state of
the simulation. A regular motion never is.

The cause is that at the level of single control periods. Recent control periods are kept. Once the
verdict turns, they are compared with the engine's twin, whose regression names what is off; that
takes seconds, and has a process of its own.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from roboaccord.contract.interfaces import Inputs
from roboaccord.contract.outcome import Code, Outcome, Reason, because
from roboaccord.contract.state import RobotState
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.crosscheck.levels.scheme import SchemeCheck
from roboaccord.crosscheck.links import largest_distance, link_centres
from roboaccord.crosscheck.runs import NUDGE, nudged
from roboaccord.crosscheck.step_check import StepCheck
from roboaccord.crosscheck.twin_ticks import check_twin
from roboaccord.description.materials import OPACITY
from roboaccord.description.tree import Tree
from roboaccord.engines import engine_names
from roboaccord.numerics.isolation import isolated
from roboaccord.run.answer import answer, reset_controller
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setup import Setup

RECENT = 200  # control periods that are kept
PATIENCE = 60.0  # s of wall time that a cause may take
JUDGED_EVERY = 20  # control periods
HORIZON = 1e-3  # m, between the two copies
LOOK_PERIOD = 0.02  # s of simulated time between looks at how far they are apart
LEVELS = 5  # of opacity


@dataclass(frozen=True)
class Suspect:
    """Hold why a run is outside.

    Args:
        since: time at which the verdict turned [s].
        link: that is off.
        how_far: error and what is allowed.
        what: is off.
        named: whether that is known.
    """

    since: float
    link: str
    how_far: Sequence[Reason]
    what: Sequence[Reason]
    named: bool = False

    def line(self) -> str:
        """Return it in one line."""
        return str(because(Code.SUSPECT, **vars(self)))


class CauseFinder:
    """Keep recent control periods, and look for the cause once the verdict turns outside.

    Args:
        setup: robot and scenario.
        engine, transport: of the run.
        check: judges the control periods.
    """

    def __init__(self, setup: Setup, engine: str, transport: str, check: StepCheck) -> None:
        self._setup, self._run, self._check = setup, (engine, transport), check
        self._states = deque[RobotState](maxlen=RECENT + 1)
        self._events = deque[Event]()
        self._count, self._ok, self._since, self._driven = 0, True, 0.0, False
        self._thread = ThreadPoolExecutor(1)
        self._pending: Future[Suspect] | None = None
        self._worst: Suspect | None = None
        self.cause: Suspect | None = None

    @property
    def suspect(self) -> Suspect | None:
        """The cause of a run that is outside; until it is known, where the error is largest."""
        return self.cause or (None if self._ok else self._worst)

    def note(self, events: Iterable[Event]) -> None:
        """Take events, in order of time."""
        self._events.extend(events)

    def take(self, before: RobotState, after: RobotState, *, driven: bool = False) -> None:
        """Take a control period that was judged; look for the cause if due.

        Args:
            before, after: samples.
            driven: whether a wrench or a twist was commanded, which no twin has.
        """
        self._driven |= driven
        if not self._states or before.time != self._states[-1].time:
            self._states.clear()
            self._states.append(before)
        self._states.append(after)
        while self._events and self._events[0].time < self._states[0].time:
            self._events.popleft()
        self._count += 1
        if self._count % JUDGED_EVERY == 0:
            self._judge()

    def look(self) -> Suspect | None:
        """Return a cause that was found since the last look."""
        if self._pending is None or not self._pending.done():
            return None
        found, self._pending = self._pending.result(), None
        if self._ok:
            return None
        if self.cause and (self.cause.link, self.cause.named) == (found.link, found.named):
            return None
        self.cause = found
        return found

    def conclude(self) -> None:
        """Look for the cause at the end of the run, where none is known by now."""
        self._judge()
        known = self._ok or self._pending or (self.cause and self.cause.named)
        if not known and self._states:
            self._ask()

    def settle(self, timeout: float) -> Suspect | None:
        """Return what was found at the end, the worst joint where that takes longer; see `look`.

        Args:
            timeout: [s of wall time].
        """
        if self._pending and self._worst and not wait([self._pending], timeout).done:
            self._pending = Future()  # the process is left alone
            self._pending.set_result(self._worst)
        return self.look()

    def _judge(self) -> None:
        ok = self._check.verdict().ok
        if self._ok and not ok and self._states:
            self._since = self._states[-1].time
            self._ask()
        elif ok:
            self.cause = None
        self._ok = ok

    def _ask(self) -> None:
        """Begin to look for the cause, from where the error is largest beside what is explained."""
        verdict, states, events = self._check.verdict(), list(self._states), list(self._events)
        recent = Trajectory.from_states(self._setup.joints, states, events)
        step = verdict.step
        far = because(Code.STEP_FAR, share=step.relative, allowed=step.allowed)
        schemes = [
            reason for each in verdict.levels.get("scheme", {}).values() for reason in each.reasons
        ]
        self._worst = Suspect(
            since=self._since,
            link=self._link(self._check.worst),
            how_far=[far] if verdict.finding.outcome == Outcome.OUTSIDE else schemes,
            what=[because(Code.LARGEST_ERROR)],
        )
        self._pending = self._thread.submit(self._find, recent, self._worst, verdict.step.delay)

    def _find(self, recent: Trajectory, worst: Suspect, delay: int) -> Suspect:
        """Return the cause that the engine's twin names, the worst joint where none does."""
        engine, transport = self._run
        if engine not in engine_names() or self._driven:
            return worst
        job = self._setup, engine, transport, recent, delay
        look = partial(check_twin, resolved=False)
        ((_, found),) = isolated(look, [job], timeout=PATIENCE, workers=1)
        if not isinstance(found, SchemeCheck):
            return replace(worst, what=[*worst.what, because(Code.NO_TWIN, text=found.reason)])
        explanation, cause = found.explanation, found.explanation.cause
        if not explanation.asked:
            return replace(worst, what=[*worst.what, because(Code.OUR_EQUATIONS)])
        link = self._link(cause.where) or self._link(found.where)
        what = [because(Code.CAUSE, of=explanation)]
        return replace(worst, link=link, what=what, named=bool(cause.quantity))

    def _link(self, where: str) -> str:
        """Return the link that a link or a joint stands for, "" for neither."""
        children = {joint.name: joint.child for joint in self._setup.tree.joints}
        links = {link.name for link in self._setup.tree.links}
        return where if where in links else children.get(where, "")


class Companion:
    """Run the reference free, with a controller of its own, and set it anew past its horizon.

    Args:
        setup: robot and scenario, as the controller knows them.
        simulated: as the reference simulates them; another ground in Gazebo.
        inputs: targets of the controller, switches, and joints that fail.
        controller: `package.module:Class` in place of the scenario's.

    Attributes:
        simulated: as given; replaced where joints have failed, with which it is set anew.
        apart: largest distance between links of the two copies at the last look [m].
        anew: how often it was set anew.
    """

    def __init__(
        self, setup: Setup, simulated: Setup, inputs: Inputs, controller: str = ""
    ) -> None:
        self._tree, self._joints, self._inputs = setup.tree, setup.joints, inputs
        self._period = setup.scenario.control_period
        self._look = max(round(LOOK_PERIOD / self._period), 1)
        self._controllers = [make_controller(setup, controller) for _ in range(2)]
        for made in self._controllers:
            reset_controller(made, setup.scenario.seed)
        self.apart, self.anew, self._tick = 0.0, 0, 0
        self.simulated = simulated
        self._start(setup.initial)

    @property
    def state(self) -> RobotState:
        """The state of the reference."""
        return self._states[0]

    @property
    def opacity(self) -> float:
        """How opaque it is to be shown: full at a start, and little at the horizon."""
        used = math.log(max(self.apart / NUDGE, 1.0)) / math.log(HORIZON / NUDGE)
        return OPACITY * (1.0 - min(int(LEVELS * used), LEVELS - 1) / LEVELS)

    def advance(self, state: RobotState) -> bool:
        """Advance to the time of a state of the simulation; return whether it was set anew."""
        for _ in range(round((state.time - self.state.time) / self._period)):
            self._step()
        if self._tick < self._look:
            return False
        self._tick, self.apart = 0, farthest(self._tree, self._joints, *self._states)
        if self.apart < HORIZON:
            return False
        self._start(state)
        self.apart, self.anew = 0.0, self.anew + 1
        return True

    def _start(self, state: RobotState) -> None:
        """Put both copies into a state, one of them nearly."""
        self._simulators = [make_simulator(self.simulated) for _ in self._controllers]
        starts = zip(self._simulators, (state, nudged(state)), strict=True)
        self._states = [simulator.reset(start) for simulator, start in starts]

    def _step(self) -> None:
        self._tick += 1
        faults = self._inputs.faults(self.state)
        for i, (simulator, controller) in enumerate(zip(self._simulators, self._controllers)):
            command = answer(controller, self._states[i], self._inputs, self._joints)
            for fault in faults:
                simulator.fail(fault)
            self._states[i] = simulator.step(command, self._period)
            simulator.take_events()


def farthest(tree: Tree, joints: tuple[str, ...], one: RobotState, other: RobotState) -> float:
    """Return the largest distance between links' centres, or bases, of two states [m]."""
    both = Trajectory.from_states(joints, [one, other])
    points = np.concatenate([link_centres(tree, both), both.position[:, None]], axis=1)
    return float(largest_distance(points[1:] - points[:1])[0])
