"""Level `invariance`: an engine's motion in a world that is turned, mirrored, shifted or reordered.

Such a change of the world is a move. The recorded efforts act again in the moved world, so the same
motion, moved, must follow; no exact solution is needed. A difference beyond round-off shows a model
or a contact law that depends on the axes of the world or on the order of joints.

What round-off explains, the floor, is measured in the same engine. Each physics step rounds the
numbers of the state, and these errors grow as those of an initial state do. The floor is therefore
FLOOR_FACTOR times the difference made by pairs of initial states, all of whose numbers are changed,
with opposite signs: by ROUNDING_FACTOR roundings of the largest number of their group for each
step, and by what the engine loses of a state that is set and read back (DART ignores a rotation of
the base below 1e-3 rad). Where a rounding decides, such as whether two bodies touch, the pair lies
on both sides; and each run has other errors of an iterative solver, as at joint stops.

run.py calls the level through its interface (level.py); `check_invariance` is the whole
measurement. To add a move, add it to MOVES (engines/moves.py). REPEATED_SHARE and MIN_DURATION may
be tuned; FLOOR_FACTOR, PAIR_COUNTS and BOX_RATIO only while verdicts on sound and wrong engines
stay (test_invariance).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Annotated, Literal

import numpy as np

from roboaccord.contract import AccordError, Array, Quantity, RobotState, Seconds, Trajectory
from roboaccord.contract.outcome import Code, Finding, because
from roboaccord.crosscheck import columns, round_off
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.level import Entry, Level, Rows
from roboaccord.crosscheck.measures.twin_comparison import read_back
from roboaccord.crosscheck.ticks import TIME_ROUND_OFF
from roboaccord.engines.base import engine_parts
from roboaccord.engines.moves import HALF_RIGHT, MOVES, QUARTER_TURN, Move
from roboaccord.engines.spec import EngineSpec
from roboaccord.engines.symmetries import moved
from roboaccord.numerics.ranking import first_largest, ranked
from roboaccord.numerics.rotations import quaternion_product, turn_quaternion
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

# Share of the motion that is simulated again: four times for moves and twice for round-off, which
# takes 0.6 of the run's time.
REPEATED_SHARE = 0.1
# Shortest motion that is simulated again [s]: 200 control periods (ticks) at 1 kHz. By choice: a
# tenth of a short run would hardly be a motion.
MIN_DURATION = 0.2
# Floor over the sum of the differences of a pair of initial states. As both are alike, that is 20
# times one of them: a normal deviate exceeds 20 times another in 3 of 100 draws, and 20 times the
# sum of eight in 2 of 1e14. Besides, initial changes are larger than what steps round: they grow
# with the number of steps, not with its root. By choice: of ten scenarios in DART and MuJoCo,
# with one pair, the largest change is 0.11 of the floor (`pegs`, MuJoCo).
FLOOR_FACTOR = 10.0
# Numbers of pairs of initial states; the larger one if the smaller explains too little. Eight pairs
# take the time of 1.6 runs, and their sum is on average eight times that of one.
PAIR_COUNTS = (1, 8)
# Change by a turn of 90 degrees over that by 45 degrees up to which friction counts as limited by a
# box: a box changes by round-off alone if it turns by 90 degrees. Any from 1e-6 to 0.1 would do.
BOX_RATIO = 0.01
# What changes show of a contact law: friction limited by a box along the world's axes, which a turn
# by 90 degrees does not change; or another dependence on these axes; "" for neither.
ContactLaw = Literal["", "box", "unequal"]


@dataclass(frozen=True)
class MotionChange:
    """Largest difference in a moved world, relative to what round-off explains.

    Args:
        error, floor: that difference, and what round-off explains, in the unit of the coordinate.
        quantity, where: the coordinate, and its joint or link.
        time: of the state [s].
    """

    error: Annotated[float, Quantity("", "largest difference in a moved world")]
    floor: Annotated[float, Quantity("", "what round-off explains of it")]
    quantity: str
    where: str
    time: Seconds

    @property
    def outside(self) -> bool:
        """Whether round-off does not explain it."""
        return not self.error <= self.floor


@dataclass(frozen=True)
class InvarianceCheck:
    """Changes of an engine's motion in moved worlds.

    Args:
        duration: of the motion that is simulated again.
        changes: by the name of the move.
        refused: why the engine cannot have that world, by the name of the move.
        law: what the changes show of the contact law, where something touches.
    """

    duration: Annotated[float, Quantity("s", "duration")]
    changes: Mapping[str, MotionChange]
    refused: Mapping[str, str] = field(default_factory=dict)
    law: ContactLaw = ""


def check_invariance(setup: Setup, engine: EngineSpec, run: Trajectory) -> InvarianceCheck:
    """Simulate the first part of an engine's run again in moved worlds."""
    # Number of control periods (ticks) that are simulated again.
    shortest = np.searchsorted(run.time, run.time[0] + MIN_DURATION - TIME_ROUND_OFF)
    ticks = int(min(max(np.ceil(REPEATED_SHARE * (len(run) - 1)), shortest), len(run) - 1))
    simulator = make_simulator(setup, engine)
    if simulator.unplaced:  # round-off is measured by other initial states, which it cannot take
        return InvarianceCheck(0.0, {}, {"": simulator.unplaced})
    unmoved = replay(simulator, run, run.state(0), ticks)
    errors, refused = dict[str, Array](), dict[str, str]()
    for move in MOVES:
        if move.reordered and len(run.joints) < 2:
            continue
        try:
            errors[move.name] = errors_by_move(setup, engine, move, run, unmoved)
        except AccordError as error:
            refused[move.name] = str(error)
    # Compare with round-off; measure it by more starts if it does not explain a change.
    for pairs in PAIR_COUNTS:
        floor = measure_floor(simulator, run, unmoved, pairs)
        changes = {name: largest_change(run, of_move, floor) for name, of_move in errors.items()}
        if not any(change.outside for change in changes.values()):
            break
    # In contact, a turn by 90 degrees tells a box of friction from other laws.
    law: ContactLaw = ""
    turned = changes.get(HALF_RIGHT.name)
    if turned and turned.outside and touches(simulator, run, ticks):
        right = errors_by_move(setup, engine, QUARTER_TURN, run, unmoved)
        law = "box" if right.max() < BOX_RATIO * errors[HALF_RIGHT.name].max() else "unequal"
    return InvarianceCheck(float(run.time[ticks] - run.time[0]), changes, refused, law)


class InvarianceLevel(Level[InvarianceCheck]):
    """Judge the changes in moved worlds by round-off alone."""

    name = "invariance"
    title = "Invariance: the same motion in other worlds"

    def measure(self, case: CheckCase) -> InvarianceCheck:
        """Simulate the start of the run again in moved worlds."""
        return check_invariance(case.setup, case.engine, case.run)

    def judge(self, check: InvarianceCheck, tolerances: Tolerances) -> Finding:
        """Return `outside` for the move whose change exceeds its floor by most."""
        if not check.changes:
            reason = next(iter(check.refused.values()), "")
            return Finding.does_not_apply(because(Code.NO_MOVE, text=reason))
        outside = {name: change for name, change in check.changes.items() if change.outside}
        if not outside:
            return Finding.within()
        move = ranked([*outside], lambda name: -outside[name].error / outside[name].floor)[0]
        change, others = outside[move], [name for name in outside if name != move]
        figures = {**vars(change), "move": move, "others": others, "law": check.law}
        quantity = "contact law" if check.law else ""
        why = because(Code.NOT_INVARIANT, **figures)
        return Finding.outside(why, quantity=quantity, where=change.where, size=change.error)

    def rows(self, check: InvarianceCheck) -> Rows:
        """Return the largest change by each move, with its floor, or why it was refused."""
        texts = {name: f"{c.error:.1g} ({c.floor:.0e})" for name, c in check.changes.items()}
        texts = {**check.refused, **texts}
        return {move.name: Entry(texts.get(move.name)) for move in MOVES}


def errors_by_move(
    setup: Setup, engine: EngineSpec, move: Move, run: Trajectory, unmoved: Trajectory
) -> Array:
    """Return by how much a move changes the motion, by tick and coordinate (k, 2 n + 12).

    Args:
        setup, engine: that made the run.
        move: of the world.
        run: recorded.
        unmoved: its first k ticks, simulated again without a move.

    Raises:
        AccordError: where the world cannot be moved so.
    """
    again = replay(make_simulator(setup, moved(engine, move)), run, run.state(0), len(unmoved))
    return np.asarray(np.nan_to_num(np.abs(columns.state_difference(unmoved, again)), nan=np.inf))


def measure_floor(simulator: Simulator, run: Trajectory, unmoved: Trajectory, pairs: int) -> Array:
    """Return the effect of round-off on each tick, by group of coordinates (k, 6).

    Args:
        simulator: of the engine.
        run: recorded.
        unmoved: its first k ticks, simulated again.
        pairs: number of pairs of changed starts.
    """
    ticks = len(unmoved)
    steps = float(run.time[ticks] - run.time[0]) / simulator.physics_step
    largest = columns.scales_of_groups(run.at(np.arange(ticks + 1)))
    rounding = simulator.rounding
    most_lost = round_off.of_lost_states(rounding)
    lost = np.minimum(read_back(simulator, run, np.arange(ticks)), most_lost)
    # Changes of an initial state, by group of coordinates (6,).
    sizes = round_off.factor(rounding) * (steps * rounding * largest + lost)
    floor = np.tile(sizes, (ticks, 1))
    for seed, sign in product(range(pairs), (1.0, -1.0)):
        start = perturbed(run.state(0), sign * sizes, seed)
        errors = np.abs(columns.state_difference(unmoved, replay(simulator, run, start, ticks)))
        by_group = np.nan_to_num(columns.largest_by_group(errors), nan=np.inf)
        floor = floor + FLOOR_FACTOR * np.maximum.accumulate(by_group)
    return floor


def largest_change(run: Trajectory, errors: Array, floor: Array) -> MotionChange:
    """Return the change that is largest relative to its floor.

    Args:
        run: recorded.
        errors: by tick and coordinate (k, 2 n + 12).
        floor: what round-off explains, by tick and group of coordinates (k, 6).
    """
    floors = np.array([columns.to_columns(row, errors.shape[1]) for row in floor])
    tick, column = np.unravel_index(first_largest(errors / floors), errors.shape)
    quantity, where = columns.column_names(run.joints)[column]
    error, limit = float(errors[tick, column]), float(floors[tick, column])
    return MotionChange(error, limit, quantity, where, float(run.time[tick + 1]))


def replay(simulator: Simulator, run: Trajectory, start: RobotState, ticks: int) -> Trajectory:
    """Return a simulator's states from a start, under the recorded commands of a run."""
    return Trajectory.from_states(run.joints, [*replayed_states(simulator, run, start, ticks)])


def replayed_states(
    simulator: Simulator, run: Trajectory, start: RobotState, ticks: int
) -> Iterator[RobotState]:
    """Yield the states of `replay`, each as soon as the simulator has reached it."""
    simulator.reset(start)
    for i in range(ticks):
        yield simulator.step(run.command(i), run.period(i))
    simulator.take_events()


def touches(simulator: Simulator, run: Trajectory, ticks: int) -> bool:
    """Return whether any bodies touch in the first ticks of a run, the robot's rig included."""
    parts = engine_parts(simulator)
    states = replayed_states(simulator, run, run.state(0), ticks)
    return any(part.contacts() for _ in states for part in parts)


def perturbed(state: RobotState, sizes: Array, seed: int) -> RobotState:
    """Return a state all of whose numbers are changed, with random signs.

    Args:
        state: to change, of n joints.
        sizes: of the changes, by group of coordinates (6,).
        seed: of the signs.
    """
    rng = np.random.default_rng(seed)
    groups = columns.column_groups(len(state.q))
    shifts = [size * rng.choice([-1.0, 1.0], len(g)) for size, g in zip(sizes, groups, strict=True)]
    q, qd, position = state.q + shifts[0], state.qd + shifts[1], state.position + shifts[2]
    orientation = quaternion_product(state.orientation, turn_quaternion(shifts[3]))
    twist = state.twist + np.append(shifts[4], shifts[5])
    return replace(state, q=q, qd=qd, position=position, orientation=orientation, twist=twist)
