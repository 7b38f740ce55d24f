"""Registration of the MonkeyBot in the workspace, and the figures of its runs.

The commands find the robot through the class `MonkeyBot`. It names the parameters, the controllers
and the robot's own commands, creates the reference simulator and those of physics engines, and
checks initial states. `MotionFigures` measures a run: how far the robot has come, and how hard its
hands have hit. docs/monkeybot.md describes the robot and the report that it comes from.

A controller is added as a class in controllers/ and an entry in `controllers`, under its name in
scenarios; a figure as a key in `MotionFigures.figures`. Keys that exist stay, for `accord run`
prints them as JSON. The joint `elbow` and the names in `switches` are those of the URDF.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.random import Generator
from roboaccord import description
from roboaccord.contract import AccordError, AnyEngine, Array, Event, RobotState, Tally, Trajectory
from roboaccord.description import Faces
from roboaccord.scenario import InputTopics, Robot, Setup, commands_of
from roboaccord.simulators import Simulator

from monkeybot.controllers import by_clock, by_state, commanded
from monkeybot.model import dynamics
from monkeybot.model.coordinates import MAGNET_A, MAGNET_B, MOVING, Mode, mode_of, pack, unpack
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.simulators.reference import MonkeyBotReference


class MotionFigures(Tally):
    """Measure travel to the right and rise [m], the number of grips, and the largest impulse [N s].

    Travel and rise lead from the place where a hand first holds to the place where a hand last
    holds, so they count whole steps. If no hand ever holds, they are those of the centre of mass,
    which depend on the phase in which the motion ends.
    """

    def __init__(self, setup: Setup) -> None:
        self._parameters = setup.parameters
        # By "hand" and "centre" (of mass), to the right and up (2,) [m].
        self._starts = dict[str, Array]()  # first position
        self._shifts = dict[str, Array]()  # displacement from it up to now

    def add(self, part: Trajectory) -> None:
        """Add the next part of the motion to the figures."""
        p = self._parameters
        paths = {"hand": held_hands(p, part), "centre": centre_of_mass(p, part)}
        for point, path in paths.items():
            if len(path):
                self._shifts[point] = path[-1] - self._starts.setdefault(point, path[0])

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return travel [m], rise [m], number of grips and largest impulse [N s]."""
        impulses = [event.impulse for event in events if event.kind == "magnet_on"]
        largest = max(impulses, default=0.0)
        travel, rise = self._shifts.get("hand", self._shifts["centre"]).tolist()
        grips = float(len(impulses))
        return {"travel": travel, "rise": rise, "grips": grips, "largest_impulse": largest}


def centre_of_mass(p: MonkeyBotParameters, trajectory: Trajectory) -> Array:
    """Return the centre of mass of every sample, to the right and up (k, 2) [m]."""
    along_a = (p.mass_a * p.centre_a + p.mass_b * p.length_a) / p.mass
    return _positions_along_links(trajectory, along_a, p.mass_b * p.centre_b / p.mass)


def held_hands(p: MonkeyBotParameters, trajectory: Trajectory) -> Array:
    """Return the positions of the held hand, to the right and up (k', 2) [m].

    Only samples in which a hand holds are returned; where both do, it is hand A.
    """
    off = np.zeros(len(trajectory), dtype=bool)
    a_holds = trajectory.switches.get(MAGNET_A, off)  # at each sample (k,)
    b_holds = trajectory.switches.get(MAGNET_B, off)
    hand_a = trajectory.position[:, 1:]
    hand_b = _positions_along_links(trajectory, p.length_a, p.length_b)
    return np.where(a_holds[:, None], hand_a, hand_b)[a_holds | b_holds]


def _positions_along_links(trajectory: Trajectory, along_a: float, along_b: float) -> Array:
    """Return hand A's position plus `along_a` in link A's direction and `along_b` in link B's.

    Args:
        trajectory: of k samples.
        along_a, along_b: distances along the links, away from hand A [m].

    Returns:
        positions to the right and up (k, 2) [m].
    """
    # Angles of link A and of link B from hanging straight down.
    th1 = 2.0 * np.arctan2(trajectory.orientation[:, 0], trajectory.orientation[:, 3])
    th12 = th1 + trajectory.q[:, 0]
    right = along_a * np.sin(th1) + along_b * np.sin(th12)
    up = -along_a * np.cos(th1) - along_b * np.cos(th12)
    return trajectory.position[:, 1:] + np.column_stack([right, up])


class MonkeyBot(Robot):
    """Two links with a motor between them and a magnet at either end, on a steel wall."""

    name = "monkeybot"
    summary = "two links that swing along a wall by magnets; brachiation"
    parameters = MonkeyBotParameters
    controllers = {
        "timed": by_clock.TimedController,
        "schedule": commanded.ScheduleController,
        "search": by_state.SearchController,
        "level": by_state.LevelController,
        "teleop": commanded.TeleopController,
    }
    input_topics = InputTopics(efforts={"elbow_effort": "elbow"})
    switches = {MAGNET_A: True, MAGNET_B: False}
    cli = commands_of("monkeybot", {"gait": "gait", "figures": "figures"})

    def joints(self, setup: Setup) -> tuple[str, ...]:
        """Return the name of the only joint."""
        return ("elbow",)

    def effort_limits(self, setup: Setup) -> Array:
        """Return the limit of the motor at the elbow (1,) [N m]."""
        return np.array([setup.parameters.effort_limit])

    def reference(self, setup: Setup) -> Simulator:
        """Return the analytical simulator."""
        return MonkeyBotReference(setup)

    def engine(self, setup: Setup, engine: AnyEngine) -> Simulator:
        """Return the MonkeyBot in a physics engine, which has one model for each mode."""
        from monkeybot.simulators.engines import EngineMonkeyBot

        return EngineMonkeyBot(setup, engine)

    def initial(self, setup: Setup, state: RobotState) -> RobotState:
        """Complete an initial state so that a held hand stands still.

        In the plane of the wall it is u = (th1, th2, w1, w2, y, z, vy, vz) (model/coordinates.py).

        Raises:
            AccordError: for a base that is off the wall's plane, or moves though its hand is held.
        """
        start = setup.scenario.initial
        if start.position[0] or start.pitch or start.yaw or any(start.twist[i] for i in (0, 4, 5)):
            message = "the MonkeyBot moves in the y-z plane: initial takes y, z and roll alone"
            raise AccordError(message)
        mode = mode_of(state.switches)
        u = pack(state)
        if mode is not Mode.FLIGHT and any(start.twist[:3]):
            message = "initial.twist: a hand is held, so the rates of the angles determine it"
            raise AccordError(message)
        if mode is Mode.FIXED:
            u[2:4] = 0.0
        if mode is Mode.SWING_B:
            _stop_hand_b(setup.parameters, u)
        return unpack(u, time=0.0, effort=state.effort, mode=mode)

    def draw_state(self, setup: Setup, rng: Generator, index: int) -> tuple[RobotState, Array]:
        """Draw a state on the wall and an effort, for comparisons at random states.

        The three modes that move take turns. The spread is our choice: standard deviations of
        3 rad/s, 1 m and 1 m/s, and efforts of up to 5 N m.
        """
        mode = MOVING[index % len(MOVING)]
        angles, rates = rng.uniform(-np.pi, np.pi, 2), 3.0 * rng.normal(size=2)
        u = np.concatenate([angles, rates, rng.normal(size=4)])
        if mode is Mode.SWING_A:
            u[6:] = 0.0
        elif mode is Mode.SWING_B:
            _stop_hand_b(setup.parameters, u)
        return unpack(u, time=0.0, effort=np.zeros(1), mode=mode), rng.uniform(-5.0, 5.0, 1)

    def surroundings(self, setup: Setup) -> Mapping[str, tuple[Array, Faces]]:
        """Return the wall of models/magnet_wall, 4 cm behind the plane of the motion."""
        vertices, faces = description.box(np.array([0.02, 12.0, 4.0]))
        return {"wall": (vertices + np.array([-0.05, 0.0, 0.0]), faces)}

    def tally(self, setup: Setup, ticks: int) -> Tally:
        """Return the figures of a run, empty as yet."""
        return MotionFigures(setup)


def _stop_hand_b(parameters: MonkeyBotParameters, u: Array) -> None:
    """Set hand A's velocity in u (8,), in place, such that hand B stands still."""
    u[6:] = 0.0
    from_b = np.empty(8)
    dynamics.flip(parameters.row(0), u, from_b)
    u[6:] = -from_b[6:]


ROBOT = MonkeyBot()
