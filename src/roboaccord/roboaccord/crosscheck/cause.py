"""Suspected cause of a live run that is outside, found from its recent control periods.

Recent control periods are stored. Once the verdict turns to outside, a separate process compares
them with the engine's twin (a simulation of our equations with the engine's scheme), whose
regression names the cause within seconds; until then the joint with the largest error is suspected.
STORED_PERIODS, SEARCH_TIMEOUT and JUDGED_EVERY may be tuned. Which cause is named is decided in
causes/.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial

from roboaccord.contract import Event, RobotState, Trajectory
from roboaccord.contract.outcome import Code, Outcome, Reason, because
from roboaccord.crosscheck.measures.scheme import SchemeCheck
from roboaccord.crosscheck.step_check import StepCheck
from roboaccord.crosscheck.twin_ticks import check_twin
from roboaccord.engines import engine_names
from roboaccord.numerics.isolation import isolated
from roboaccord.scenario.setup import Setup

# Number of control periods stored for the regression, whose time grows with them: 0.2 s at 1 kHz.
# Any from twice the EXPLAINED_TICKS = 12 that it fits (measures/scheme.py) would do.
STORED_PERIODS = 200
# Wall time after which the search for a cause, which takes seconds, is given up [s].
SEARCH_TIMEOUT = 60.0
# Number of control periods from one verdict to the next: 20 ms at 1 kHz, a frame of a viewer.
JUDGED_EVERY = 20


@dataclass(frozen=True)
class Suspect:
    """Suspected reason why a run is outside.

    Args:
        since: time at which the verdict turned [s].
        link: where the error is; "" where that is not known.
        how_far: the error, and what is allowed.
        what: the cause.
        named: whether the regression named it.
    """

    since: float
    link: str
    how_far: Sequence[Reason]
    what: Sequence[Reason]
    named: bool = False

    def line(self) -> str:
        """Return the suspicion in one line."""
        return str(because(Code.SUSPECT, **vars(self)))


class CauseFinder:
    """Store recent control periods, and seek the cause once the verdict turns to outside.

    Args:
        setup: robot and scenario.
        engine, transport: of the run.
        check: judges the control periods.

    Attributes:
        cause: that the last search found; None before that, and of a run that is within.
    """

    def __init__(self, setup: Setup, engine: str, transport: str, check: StepCheck) -> None:
        self._setup, self._check = setup, check
        self._engine, self._transport = engine, transport
        self._states = deque[RobotState](maxlen=STORED_PERIODS + 1)
        self._events = deque[Event]()
        self._count = 0  # control periods so far
        self._is_ok = True  # whether the last verdict was not `fail`
        self._since = 0.0  # when it turned to outside [s]
        self._has_external = False  # whether a wrench or a twist was commanded
        self._thread = ThreadPoolExecutor(1)  # in which the search runs
        self._search: Future[Suspect] | None = None
        self._worst_joint: Suspect | None = None  # the suspect until the search ends
        self.cause: Suspect | None = None

    @property
    def suspect(self) -> Suspect | None:
        """Cause of a run that is outside; until it is known, the joint with the largest error."""
        return self.cause or (None if self._is_ok else self._worst_joint)

    def store_events(self, events: Iterable[Event]) -> None:
        """Store events, in order of time."""
        self._events.extend(events)

    def store_period(self, before: RobotState, after: RobotState, *, driven: bool = False) -> None:
        """Store a control period that was judged; start the search for a cause if due.

        Args:
            before, after: states at its ends.
            driven: whether a wrench or a twist was commanded, which no twin simulates.
        """
        self._has_external |= driven
        if not self._states or before.time != self._states[-1].time:
            self._states.clear()
            self._states.append(before)
        self._states.append(after)
        while self._events and self._events[0].time < self._states[0].time:
            self._events.popleft()
        self._count += 1
        if self._count % JUDGED_EVERY == 0:
            self._judge()

    def take_new_cause(self) -> Suspect | None:
        """Return a cause that was found since the last call; None if there is none, or the same."""
        if self._search is None or not self._search.done():
            return None
        cause, self._search = self._search.result(), None
        if self._is_ok:
            return None
        if self.cause and (self.cause.link, self.cause.named) == (cause.link, cause.named):
            return None
        self.cause = cause
        return cause

    def search_at_end(self) -> None:
        """Start the search at the end of the run, if no cause is known."""
        self._judge()
        is_settled = self._is_ok or self._search or (self.cause and self.cause.named)
        if not is_settled and self._states:
            self._start_search()

    def wait_for_cause(self, timeout: float) -> Suspect | None:
        """Return the new cause at the end of a run, the worst joint if the search takes longer.

        Args:
            timeout: wall time to wait for it [s].
        """
        if self._search and self._worst_joint and not wait([self._search], timeout).done:
            self._search = Future()  # the process is left alone
            self._search.set_result(self._worst_joint)
        return self.take_new_cause()

    def _judge(self) -> None:
        """Judge the run so far; start the search when the verdict turns to outside."""
        is_ok = self._check.verdict().ok
        if self._is_ok and not is_ok and self._states:
            self._since = self._states[-1].time
            self._start_search()
        elif is_ok:
            self.cause = None
        self._is_ok = is_ok

    def _start_search(self) -> None:
        """Start the search for the cause; until it ends, the suspect is the worst joint."""
        verdict, states, events = self._check.verdict(), list(self._states), list(self._events)
        recent = Trajectory.from_states(self._setup.joints, states, events)
        step = verdict.step
        too_far = because(Code.STEP_FAR, share=step.relative, allowed=step.allowed)
        schemes = [r for f in verdict.levels.get("scheme", {}).values() for r in f.reasons]
        how_far = [too_far] if verdict.finding.outcome == Outcome.OUTSIDE else schemes
        link, what = self._link_of(self._check.worst), [because(Code.LARGEST_ERROR)]
        self._worst_joint = Suspect(self._since, link, how_far, what)
        self._search = self._thread.submit(self._find, recent, self._worst_joint, step.delay)

    def _find(self, recent: Trajectory, worst: Suspect, delay: int) -> Suspect:
        """Return the cause that the regression names, or the worst joint where it names none."""
        if self._engine not in engine_names() or self._has_external:
            return worst
        job = self._setup, self._engine, self._transport, recent, delay
        compare = partial(check_twin, resolved=False)
        ((_, check),) = isolated(compare, [job], timeout=SEARCH_TIMEOUT, workers=1)
        if not isinstance(check, SchemeCheck):
            return replace(worst, what=[*worst.what, because(Code.NO_TWIN, text=check.reason)])
        explanation, cause = check.explanation, check.explanation.cause
        if not explanation.asked:
            return replace(worst, what=[*worst.what, because(Code.OUR_EQUATIONS)])
        link = self._link_of(cause.where) or self._link_of(check.where)
        what = [because(Code.CAUSE, of=explanation)]
        return replace(worst, link=link, what=what, named=bool(cause.quantity))

    def _link_of(self, where: str) -> str:
        """Return the link of a name, or the link that a joint of that name moves, or ""."""
        children = {joint.name: joint.child for joint in self._setup.tree.joints}
        links = {link.name for link in self._setup.tree.links}
        return where if where in links else children.get(where, "")
