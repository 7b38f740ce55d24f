"""The analytical simulator of the snake: planar dynamics, ground friction, inelastic stops.

A run gives it a start and then, for each tick (control period), the joint efforts; it answers with
the state after the tick and the joints that reached a stop. The equations are in model/. The state
is a row y of numbers (model/coordinates), advanced by the kernels of steps.py, or by those of
sticking.py if the friction has no slip speed and so can hold a point at rest. Physics engines are
compared with it in many motions of one tick, each from a start of its own; these are advanced
together, as rows of one array.

Joint faults and events may be added in `lock` and `_note`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import roboaccord
from roboaccord.contract import Acceleration, Array, Command, Event, Index, RobotState, Trajectory
from roboaccord.scenario import Setup
from roboaccord.simulators import Ends, Reference, StopWatch, losses

from snake.model.coordinates import PlanarSnake
from snake.model.dynamics import accelerations
from snake.model.ground import NO_FRICTION, NO_POINTS, friction_of
from snake.model.parameters import SnakeParameters
from snake.model.pegs import peg_field
from snake.model.stops import FROZEN, apply_stops
from snake.model.touches import Points, points_of
from snake.model.tracking import centre_accelerations
from snake.simulators import among_pegs, sticking
from snake.simulators.steps import StepModel, TickRecord, advance_rows, glide


class SnakeReference(Reference):
    """Simulate the snake by its own equations of motion; methods are those of `Reference`."""

    version = f"roboaccord-snake {roboaccord.__version__}"
    bases = ("planar",)
    parameters: SnakeParameters
    # Ways to lose energy that are summed up; damping and impacts stay 0.
    channels = (losses.DAMPING, losses.STOPS, losses.IMPACTS)

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._chain = PlanarSnake(self.parameters)
        limit = self.parameters.joint_limit
        self._model = StepModel(self._chain.body, *friction_of(setup), limit)
        self._field = peg_field(setup.contact, self.parameters)
        self.unsolved = 0  # steps whose contacts are not exact
        self._setup = setup
        self._has_pegs = setup.contact is not None
        sticks = self._model.points.size > 0 and self._model.friction.slip_speed == 0.0
        self.order = 1 if sticks or self._has_pegs else 4
        limits = np.full(len(self.joints), limit)
        self._stops = StopWatch(self.joints, -limits, limits)
        self._record = self._make_record(1)  # of the present tick
        self._largest_angle = 0.0  # of any joint at the end of the tick [rad]
        self._warm_up(setup.initial)

    def _start(self, state: RobotState) -> None:
        """Begin at a state, with all joints off their stops as far as is known."""
        self._place(state)
        self._record.sides[:] = 0
        self.touches = np.zeros((0, 2), np.int64), np.zeros((0, 7))
        self._stops.reset(self._read().q)

    def _place(self, state: RobotState) -> None:
        """Set the state, the only row of y."""
        self._rows = self._chain.pack(state)[None]

    def _read(self) -> RobotState:
        """Return the present state of the workspace."""
        return self._chain.unpack(self._rows[0], self._time, self._effort)

    def _make_record(self, k: int) -> TickRecord:
        """Return an empty record for k motions, with all joints free."""
        n = len(self.joints)
        impacts, angle_and_loss = np.zeros((k, n, 2)), np.empty((k, 2))
        return TickRecord(np.zeros((k, n), np.int8), impacts, angle_and_loss, np.zeros(k, np.int64))

    def _ends(
        self, starts: Trajectory, efforts: Sequence[Array], counts: Sequence[Index]
    ) -> Ends | None:
        """Return the ends of k motions, advanced together; None if friction sticks.

        Args:
            starts: their states (k).
            efforts: in force, by phase (k, n) [N m].
            counts: numbers of physics steps, by phase (k,).
        """
        if self.order == 1:
            return None
        rows, record = self._chain.pack_motion(starts), self._make_record(len(starts))
        for effort, count in zip(efforts, counts, strict=True):
            self._advance_rows(rows, effort, count, record)
        return Ends(*self._chain.unpack_motion(rows), np.zeros(len(starts), bool))

    def _advance_rows(self, rows: Array, effort: Array, counts: Index, record: TickRecord) -> None:
        """Advance rows of y under efforts (k, n) [N m] by numbers of steps (k,)."""
        arguments = self._model, rows, effort, self.physics_step, counts, record
        if glide(*arguments):
            advance_rows(*arguments)

    def compile_all(self) -> None:
        """Compile the kernels of impacts, too, by one step of a copy of the state."""
        rows, efforts, record = self._rows.copy(), self._effort[None], self._make_record(1)
        record.sides[:] = FROZEN  # so that `glide` makes no step and the kernels of impacts compile
        self._advance_rows(rows, efforts, np.array([1]), record)

    def _advance(self, command: Command, duration: float) -> None:
        """Advance the motion by a tick, with impacts on the stops located inside each step."""
        if self._has_pegs:
            lost = self._advance_among_pegs()
        elif self.order == 1:
            row, sides = self._rows[0], self._record.sides[0]
            self._largest_angle, lost = sticking.advance(
                self._model, row, self._effort, self.physics_step, self._steps, sides
            )
        else:
            counts = np.array([self._steps])
            self._advance_rows(self._rows, self._effort[None], counts, self._record)
            self._largest_angle, lost = self._record.angle_and_loss[0].tolist()
        self._losses.add(losses.STOPS, lost)

    def _advance_among_pegs(self) -> float:
        """Advance the motion by a tick; return the energy lost at the stops [J]."""
        y, sides = self._rows[0], self._record.sides[0]
        arguments = self._model, self._field, y, self._effort, self.physics_step, self._steps, sides
        self._largest_angle, at_stops, at_pegs, unsolved, *touches = among_pegs.advance(*arguments)
        self._losses.add(losses.IMPACTS, at_pegs)
        self.touches, self.unsolved = touches, self.unsolved + unsolved
        return float(at_stops)

    def contacts(self) -> Points | None:
        """Return the contacts with pegs in the last step; None without pegs."""
        if not self._has_pegs:
            return None
        pairs, rows = self.touches
        press = rows[:, 5] > 0.0
        return points_of(self._setup, pairs[press], rows[press], rows[press, 5] / self.physics_step)

    def _note(self, before: RobotState, after: RobotState) -> None:
        """Record the joints that reached a stop between two states."""
        # Otherwise no joint is at a stop, or was at the last tick.
        if self._largest_angle >= self._stops.free_range or self._stops.any_stopped:
            for joint in self._stops.new_stops(after.q):
                self._events.append(self._stop(joint, before.time))

    def lock(self, joint: int, locked: bool) -> None:
        """Hold a joint at its angle, or release it."""
        self._record.sides[0, joint] = FROZEN if locked else 0

    def _stop(self, joint: int, begin: float) -> Event:
        """Return the event of a joint that reached its stop in the tick that began at `begin` [s].

        Its time is that of the joint's first impact in the tick, its impulse the sum of all of its
        impacts; a joint that came to rest exactly at the stop had no impact.
        """
        offset, impulse = self._record.impacts[0, joint].tolist()
        time = begin + offset if impulse else self._time
        return self._stops.event(joint, time, impulse)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations of base and joints without friction; frozen joints are held.

        The base is the tail, the last link, whose centre accelerates with the centre of mass and
        relative to it.
        """
        body, n = self._chain.body, self.parameters.links
        y = self._chain.pack(state)
        acc = np.empty(n + 2)  # of the centre of mass (2,), then of the headings (n,)
        work = np.empty((12, n))  # its first rows: cosines and sines of the headings
        accelerations(body, y, np.array(effort), NO_FRICTION, NO_POINTS, work, acc)
        cosines, sines = work[:2]
        heading_acc, sides = acc[2:], self._record.sides[0]
        frozen = np.where(sides == FROZEN, sides, 0)
        if frozen.any():
            apply_stops(body, cosines, sines, heading_acc, frozen)
        ax, ay = np.empty((2, n))  # of the links' centres relative to the centre of mass
        centre_accelerations(body, cosines, sines, y[n + 4 :], heading_acc, ax, ay)
        base = np.array([acc[0] + ax[-1], acc[1] + ay[-1], 0.0, 0.0, 0.0, heading_acc[-1]])
        return Acceleration(base, heading_acc[:-1] - heading_acc[1:])

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return dict.fromkeys(self.parameters.link_names, self.parameters.link_mass)
