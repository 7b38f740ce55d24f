"""Level `scheme` of a single run, live or from a bag: control periods against the engine's twin.

The twin simulates our equations of motion with the engine's scheme, one control period (tick) from
each recorded state. A bag is compared as a fresh run is (`check_twin`). A live run is compared tick
by tick (`TwinTicks`), and round-off is measured only where a difference exceeds the floor so far: a
sound run then costs little more than a step of the twin for each tick. Floor and judgement must
stay those of measures/scheme.py, so that a recorded run gets the finding of a fresh one
(test_recorded, test_live_crosscheck). MAX_MEASURED_TICKS may be tuned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from roboaccord.bag.topics import FREE
from roboaccord.contract import plugins
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import HOLDING
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.causes.samples import delayed
from roboaccord.crosscheck.causes.ticks import twins_of
from roboaccord.crosscheck.columns import column_names, state_difference, to_columns
from roboaccord.crosscheck.measures.scheme import NoTwin, SchemeCheck, check_scheme
from roboaccord.crosscheck.measures.twin_comparison import TwinComparison
from roboaccord.engines import EngineSpec, spec
from roboaccord.numerics.ranking import first_largest
from roboaccord.scenario.setup import Setup

GAZEBO, BRIDGED = "gz", "ros_gz"  # name of the engine, and transport of a launch
# Kinds of events after which a joint is held.
HOLDING_EVENTS = {f"joint_{kind}" for kind in HOLDING}
HELD = "in Gazebo efforts hold a frozen joint"  # why its twin then does not apply
# Largest number of ticks at which round-off is measured: each costs steps of several twins; of 100,
# the largest is exceeded in one of 101 others.
MAX_MEASURED_TICKS = 100
FIRST_TICK = np.zeros(1, dtype=np.int64)  # index of the only tick of a run of two samples


class TwinTicks:
    """Compare the ticks of a run with the engine's twin, one by one as they come.

    Args:
        setup: robot and scenario.
        engine: of the run.

    Attributes:
        judged: number of ticks that were compared.
        compares: whether the twin still compares: there is one, and it was not stopped.
    """

    def __init__(self, setup: Setup, engine: EngineSpec) -> None:
        self._joints = setup.joints
        self._period = setup.scenario.control_period  # [s]
        self._why_not = "no tick was compared"  # in place of a check
        self._floor = np.zeros(6)  # what round-off explains, by group of columns
        self._measured = 0  # number of ticks at which round-off was measured
        self.judged = 0
        # Largest difference of each column, and when its tick begins [s] (2 n + 12,).
        self._largest, self._times = np.zeros((2, 2 * len(setup.joints) + 12))
        self._stopped = False  # a stopped twin keeps the ticks that were compared
        try:
            self._comparison: TwinComparison | None = TwinComparison.of(setup, engine)
        except AccordError as error:
            self._comparison, self._why_not = None, str(error)

    @property
    def compares(self) -> bool:
        """Whether the twin still compares."""
        return self._comparison is not None and not self._stopped

    def stop(self, why: str) -> None:
        """Stop comparing, for the first reason; ticks that were compared still count."""
        if self.compares:
            self._stopped = True
            self._why_not = why

    def difference(self, before: RobotState, after: RobotState, command: Command) -> Array | None:
        """Return the difference of the twin's state at the end of a tick (2 n + 12,).

        Args:
            before, after: samples.
            command: in force between them.

        Returns:
            None where the twin does not apply, as for a joint at its stop.
        """
        if self._comparison is None or self._stopped:
            return None
        twin = self._comparison.twin
        twin.reset(before)
        end = twin.step(command, self._period)
        twin.take_events()
        has_stop = any(model.stopped for model in twins_of(twin))
        return None if has_stop else state_difference(after, end)

    def add(self, before: RobotState, after: RobotState, command: Command, error: Array) -> None:
        """Add a tick to the check; measure round-off if the difference exceeds the floor so far.

        Args:
            before, after, command: as of `difference`.
            error: that difference (2 n + 12,).
        """
        self.judged += 1
        is_measured = self._measured < MAX_MEASURED_TICKS and self._over_floor(error).max() > 1.0
        if self._comparison and is_measured:
            self._measured += 1
            end = replace(after, effort=command.effort)
            run = Trajectory.from_states(self._joints, [before, end])
            floor = self._comparison.floor(run, FIRST_TICK, FIRST_TICK)
            self._floor = np.maximum(self._floor, floor)
        is_larger = np.abs(error) > self._largest
        self._largest[is_larger] = np.abs(error)[is_larger]
        self._times[is_larger] = before.time

    def check(self, left_out: int) -> SchemeCheck | NoTwin:
        """Return the check so far; `left_out` is the number of ticks that were not added."""
        if not self.judged:
            return NoTwin(self._why_not)
        column = first_largest(self._over_floor(self._largest))
        quantity, where = column_names(self._joints)[column]
        error, floor = float(self._largest[column]), float(self._floors[column])
        time = float(self._times[column])
        return SchemeCheck(error, floor, quantity, where, time, self.judged, left_out)

    @property
    def _floors(self) -> Array:
        """Floors of all coordinates (2 n + 12,)."""
        return to_columns(self._floor, len(self._largest))

    def _over_floor(self, error: Array) -> Array:
        """Return differences relative to the floor of round-off so far (2 n + 12,)."""
        return np.abs(error) / np.maximum(self._floors, np.finfo(float).tiny)


def check_twin(
    setup: Setup, engine: str, transport: str, motion: Trajectory, delay: int, *, resolved: bool
) -> SchemeCheck | NoTwin:
    """Compare the ticks of a recorded motion with the twin of its engine.

    Args:
        setup: robot and scenario.
        engine, transport: of the run.
        motion: recorded.
        delay: ticks by which commands act late in it.
        resolved: as of `check_scheme`.
    """
    engine_spec = twin_engine(setup, engine, transport)
    if engine != GAZEBO:
        return check_scheme(setup, engine_spec, motion, resolved=resolved)
    # Gazebo: efforts act late, and a joint that is held is not simulated by a twin.
    frozen = [event.time for event in motion.events if event.kind in HOLDING_EVENTS]
    free_motion = delayed(motion, delay).window(motion.time[delay], min(frozen, default=math.inf))
    if len(free_motion) < 2:
        return NoTwin(HELD)
    return check_scheme(setup, engine_spec, free_motion, resolved=resolved)


def twin_engine(setup: Setup, engine: str, transport: str) -> EngineSpec:
    """Return the engine of a recorded run with its twin; arguments are those of `check_twin`."""
    if engine != GAZEBO:
        return spec(engine)
    make: Callable[..., EngineSpec] = plugins.load("twins", engine)
    return make(contacts_of(setup, transport), started=transport.startswith(BRIDGED))


def contacts_of(setup: Setup, transport: str) -> str:
    """Return with which shapes a robot touches the ground in Gazebo; "" for those of its links.

    A run's transport may state them, as in "ros_gz, spheres"; else they are the scenario's option,
    or the robot's first ones.
    """
    if ", " in transport or transport in ("", BRIDGED, BRIDGED + FREE):
        return transport.rpartition(", ")[2] if ", " in transport else ""
    asked = setup.scenario.engine_options.get(GAZEBO, {}).get("contacts", "")
    return str(asked) or next(iter(setup.robot.gazebo.contact_shapes), "")
