"""Controllers along planned motions: reach, transition, and velocity by hand.

The control laws below are fixed, textbook ones (Craig, Spong); test_packbot_controllers checks the
decay of errors. INTEGRAL, MOST, LAG, SHORT and the defaults of the controllers, keys of scenarios,
may be tuned, and AT_STOP, what counts as being at a limit. Another controller is a class with
`reset` and `update`, and an entry in robot.py.

Computed torque control [Craig 2005, section 10.4], also of an arm with failed joints.

With angles r(t) to be followed, the error e = r - q, a bandwidth w, and the efforts tau of rigid
bodies (RNEA) and f of the joints' friction,

    effort = tau(q, qd, a) + f(qd + k T a),   a = r'' + 2 w e' + w^2 e,

so that e'' = -2 w e' - w^2 e.

Efforts are held for a period T, in which the friction b of a light joint with the inertia m can
brake it wholly (x = b T / m is 8 for the wrist). Friction is therefore taken at the rate by which
qd changes by T a in a period exactly: k = 1 / (1 - exp(-x)) - 1 / x, between 1/2 and 1.

With less friction than assumed, light joints would run away by that. Where the arm is known to be
uncertain, friction is taken at the rate that is wanted, r' + w e, and `Integral` takes off what
gravity, by a payload that is not known, leaves of the error.

The active joints follow an optimised trajectory under a time-varying linear-quadratic regulator,
whose accelerations become efforts by partial feedback linearisation [Spong 1994].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
from roboaccord.contract import (
    AccordError,
    Array,
    Command,
    RobotState,
    Target,
    check_positive,
    clip_efforts,
)
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from packbot.controllers.diagnosis import known_arm
from packbot.model import compiled
from packbot.model.parameters import JOINTS
from packbot.planning.reaching import MARGIN, Goal
from packbot.simulators.engines import joint_friction

if TYPE_CHECKING:
    from packbot.planning.failed_arm import FailedArm
    from packbot.planning.trajectories import TimedPath
    from packbot.planning.transition import Transition

AT_STOP = 2e-3  # rad
LEAST = 1e-6  # of x, below which k is 1/2 to round-off
INTEGRAL, MOST = 0.2, 1.0  # of the bandwidth, and rad that it adds at most


class ComputedTorque:
    """Compute the efforts that track a motion.

    Args:
        setup: robot and scenario.
        bandwidth: w, of the error's decay [rad/s].
        uncertain: whether the arm's friction may be less than assumed.

    Raises:
        ValueError: if the control period is too long for the bandwidth.
    """

    def __init__(self, setup: Setup, bandwidth: float, *, uncertain: bool = False) -> None:
        self._uncertain = uncertain
        self._period = setup.scenario.control_period
        if not 0.0 < bandwidth * self._period <= 0.5:
            most = 0.5 / self._period
            raise ValueError(f"bandwidth must be positive, up to {most:g} rad/s at this period")
        with compiled("computed torque"):
            from packbot.model.arm import Arm
        self._arm = Arm.of(setup)
        self._friction = joint_friction(setup.parameters)
        self._limits = setup.effort_limits
        self._bandwidth = bandwidth

    def command(self, state: RobotState, r: Array, rate: Array, change: Array) -> Command:
        """Return the command for angles r, their rates and accelerations (7,) to be followed."""
        q, qd, w = state.q, state.qd, self._bandwidth
        a = change + 2.0 * w * (rate - qd) + w * w * (r - q)
        wanted = rate + w * (r - q) if self._uncertain else None
        return Command(clip_efforts(self.efforts(q, qd, a, wanted), self._limits))

    def efforts(self, q: Array, qd: Array, a: Array, wanted: Array | None = None) -> Array:
        """Return the efforts (7,) [N m] of accelerations a (7,) [rad/s^2], friction included.

        Friction is that of the `wanted` rates (7,) [rad/s], if any are given.
        """
        if wanted is not None:
            return np.asarray(self._arm.efforts(q, qd, a) - self._friction.efforts(wanted))
        x = self._friction.viscous * self._period / np.diag(self._arm.mass_matrix(q))
        x = np.maximum(x, LEAST)
        k = 1.0 / -np.expm1(-x) - 1.0 / x
        friction = self._friction.efforts(qd + k * self._period * a)
        return np.asarray(self._arm.efforts(q, qd, a) - friction)


class Integral:
    """Add to the angles to be followed what the arm has lacked of them.

    With r + s in place of r and s' = k e, the error has the poles of z^3 + 2 w z^2 + w^2 z + k w^2,
    stable for k < 2 w; k is w / 5.

    Args:
        bandwidth: w [rad/s].
        period: of control [s].
    """

    def __init__(self, bandwidth: float, period: float) -> None:
        self._gain = INTEGRAL * bandwidth * period
        self.reset()

    def reset(self) -> None:
        """Begin with nothing."""
        self.sum = np.zeros(len(JOINTS))

    def added(self, r: Array, q: Array) -> Array:
        """Return the angles r (7,) with what is added, and take the error of q (7,) [rad]."""
        self.sum = np.clip(self.sum + self._gain * (r - q), -MOST, MOST)
        return r + self.sum


class FailedTorque(ComputedTorque):
    """Compute the efforts that track a motion of the active joints [Spong 1994].

    A loose joint has the acceleration that leaves it without effort,

        M_pp q_p'' = f_p - h_p - M_pa q_a'' + J_p^T l,

    M the mass matrix, h gravity, Coriolis and centrifugal efforts, f friction. Where it lies on
    something, l is the force of the contact, whose gap stays: J q'' = 0. A frozen joint is a lock.

    Args:
        setup: robot and scenario.
        arm: with its failures.
        bandwidth: of the error's decay [rad/s].
    """

    def __init__(
        self, setup: Setup, arm: FailedArm, bandwidth: float, *, uncertain: bool = False
    ) -> None:
        super().__init__(setup, bandwidth, uncertain=uncertain)
        self._failed = arm

    def efforts(self, q: Array, qd: Array, a: Array, wanted: Array | None = None) -> Array:
        """Return the efforts (7,) [N m]; those of failed joints are 0."""
        arm, loose = self._failed, self._failed.loose
        a = a.copy()
        a[arm.frozen] = a[loose] = 0.0
        pressed = np.zeros(len(a))
        if len(loose):
            mass = self._arm.mass_matrix(q)
            open_ = self._arm.bias(q, qd) - self._friction.efforts(qd) + mass @ a
            pressed = self._fall(q, a, mass, open_)
        efforts = super().efforts(q, qd, a, wanted) - pressed
        efforts[arm.frozen] = efforts[loose] = 0.0
        return efforts

    def _fall(self, q: Array, a: Array, mass: Array, open_: Array) -> Array:
        """Fill in the accelerations of loose joints; return the efforts (7,) of their contacts.

        Args:
            q: angles (7,) [rad].
            a: accelerations (7,) [rad/s^2], 0 of loose joints.
            mass: matrix (7, 7) [kg m^2].
            open_: efforts (7,) [N m] that the accelerations take so.
        """
        arm = self._failed
        down = arm.gravity(q)
        stopped = ((q - arm.lower < AT_STOP) & (down > 0.0)) | (
            (arm.upper - q < AT_STOP) & (down < 0.0)
        )
        loose = arm.loose[~stopped[arm.loose]]
        pairs = arm.propping(q)
        if len(pairs) and len(loose):
            lines = arm.clearance.witness(q, pairs[:1]).jacobian
            change = -np.linalg.lstsq(lines[:, loose], lines @ a, rcond=None)[0]
            need = open_[loose] + mass[np.ix_(loose, loose)] @ change
            force = np.linalg.lstsq(lines[:, loose].T, need, rcond=None)[0]
            if (force > 0.0).all():
                a[loose] = change
                return np.asarray(force @ lines)
        a[loose] = -np.linalg.solve(mass[np.ix_(loose, loose)], open_[loose])
        return np.zeros(len(a))


class ReachController:
    """Plan a path at the start, and track it by computed torque (Controller).

    Args:
        setup: robot and scenario; the path starts at its initial state, and keeps clear of its
            terrain.
        target: where the finger tips shall be, x, y, z; or
        pose: a named pose to go to.
        pitch: of the hand at the target above the horizontal; None for any.
        look: whether the camera is turned to the target during the motion.
        speed: part of the speed limits that is used.
        bandwidth: of the control.
        margin: that the path keeps from touching.
        uncertainty: with it, empty or not, friction is compensated with care, and what is left of
            the error integrated; see above.
        identified: file of `accord identify packbot BAG --json`: planning and control take the
            arm as that has it, with care as well.
        diagnosis: of the controller `recover`, for its scenarios; failures are ignored.
    """

    def __init__(
        self,
        setup: Setup,
        target: Sequence[si.Metres] | None = None,
        pose: str = "",
        pitch: si.Radians | None = None,
        look: bool = False,
        speed: float = 0.8,
        bandwidth: si.RadiansPerSecond = 10.0,
        margin: si.Metres = MARGIN,
        uncertainty: Mapping[str, float] | None = None,
        identified: str = "",
        diagnosis: str = "",
    ) -> None:
        with compiled("the controller reach"):
            from packbot.planning.rrt import Planner
        self._known = known_arm(identified)
        setup = self._known.setup(setup) if self._known else setup
        self._setup, self._speed = setup, speed
        self._goal = Goal(target, pose, pitch, look=look)
        self._planner = Planner(setup, margin=margin)
        uncertain = uncertainty is not None or self._known is not None
        self._control = ComputedTorque(setup, bandwidth, uncertain=uncertain)
        self._integral = Integral(bandwidth, setup.scenario.control_period) if uncertain else None
        self._motions: dict[int, TimedPath] = {}

    def reset(self, seed: int) -> None:
        """Plan the path; `seed` is that of the sampling."""
        from packbot.planning.trajectories import in_time

        if seed not in self._motions:
            start = self._setup.initial.q
            planner = self._planner
            goal = self._goal.angles(self._setup, planner.clearance, planner.margin, start)
            corners = planner.plan(start, goal, seed)
            self._motions[seed] = in_time(self._setup, corners, self._speed)
        self.motion = self._motions[seed]
        if self._integral:
            self._integral.reset()

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the motion, and hold its end."""
        r, rate, change = self.motion.at(state.time)
        state = self._known.seen(state) if self._known else state
        r = self._integral.added(r, state.q) if self._integral else r
        command = self._control.command(state, r, rate, change)
        return self._known.driven(command, self._setup.effort_limits) if self._known else command


LAG = 0.1  # rad by which the arm may stay behind
SHORT = 0.01  # rad by which a joint stays short of its limit


class VelocityController:
    """Track commanded joint rates or positions, and hold still without any (Controller).

    A position is approached at the speed `approach`, and braked for as limits of angle are.

    Rates are clipped at the speed limits, rise and fall by `acceleration`, and fall to 0 in time
    short of a joint's limit, v^2 / 2 = acceleration * distance. What would bring a pair closer than
    `clearance` closer still is refused: all joints stop.

    Args:
        setup: robot and scenario.
        acceleration: of every joint.
        bandwidth: of the control.
        clearance: kept of obstacles; 0 leaves the operator to look.
        approach: speed at which commanded positions are approached.
        uncertainty: with it, empty or not, friction is compensated with care; see `reach`.
    """

    def __init__(
        self,
        setup: Setup,
        acceleration: Annotated[float, si.Quantity("rad/s^2")] = 2.0,
        bandwidth: si.RadiansPerSecond = 10.0,
        clearance: si.Metres = 0.02,
        approach: si.RadiansPerSecond = 0.5,
        uncertainty: Mapping[str, float] | None = None,
    ) -> None:
        with compiled("the controller velocity"):
            from packbot.contact.clearance import Clearance
        check_positive({"acceleration": acceleration, "approach": approach})
        if not clearance >= 0.0:
            raise ValueError("clearance must not be negative")
        p = setup.parameters
        self._speeds = p.of_joints("speed_limit")
        self._lower = p.of_joints("lower") + SHORT
        self._upper = p.of_joints("upper") - SHORT
        self._control = ComputedTorque(setup, bandwidth, uncertain=uncertainty is not None)
        self._approach = approach
        self._acceleration, self._period = acceleration, setup.scenario.control_period
        self._margin = clearance
        self._clearance = Clearance.of(setup) if clearance else None
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget where the joints were to be."""
        self._r: Array | None = None
        self._rate = np.zeros(len(self._speeds))

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts for the rates asked for, from where the joints were to be."""
        if self._r is None:
            self._r = state.q.copy()
        asked = np.zeros_like(self._rate)
        if target is not None and target.velocity is not None:
            asked = np.asarray(target.velocity, dtype=float)
            if not np.isfinite(asked).all():
                raise AccordError(f"a joint velocity is not finite at t = {state.time:.6f} s")
        if target is not None and target.position is not None:
            rates = self._rates_to(target.position, self._r)
            asked = np.where(np.isnan(target.position), asked, rates)
        rate = self._next_rate(asked, self._r)
        change = (rate - self._rate) / self._period
        command = self._control.command(state, self._r, self._rate, change)
        r = self._r + 0.5 * self._period * (self._rate + rate)
        # What blocks the arm must not let the motion run away from it.
        self._r = state.q + clip_efforts(r - state.q, np.full_like(r, LAG))
        self._rate = rate
        return command

    def _next_rate(self, asked: Array, r: Array) -> Array:
        """Return the rates (7,) [rad/s] one period on, at the angles r."""
        wanted = clip_efforts(asked, self._speeds)
        wanted = np.minimum(wanted, self._braking(np.maximum(self._upper - r, 0.0)))
        wanted = np.maximum(wanted, -self._braking(np.maximum(r - self._lower, 0.0)))
        rate = self._towards(wanted)
        return self._towards(np.zeros_like(rate)) if self._approaches(rate, r) else rate

    def _braking(self, distance: Array) -> Array:
        """Return the rates (7,) [rad/s] from which a joint stops within a distance (7,) [rad].

        In discrete time it brakes one period early, so that it never passes the place.
        """
        rise = self._acceleration * self._period
        return np.asarray(np.sqrt(rise**2 + 2.0 * self._acceleration * distance) - rise)

    def _rates_to(self, position: Array, r: Array) -> Array:
        away = position - r
        return np.sign(away) * np.minimum(self._braking(np.abs(away)), self._approach)

    def _towards(self, wanted: Array) -> Array:
        rise = np.full_like(wanted, self._acceleration * self._period)
        return self._rate + clip_efforts(wanted - self._rate, rise)

    def _approaches(self, rate: Array, r: Array) -> bool:
        """Return whether a pair that comes together would stop within the margin."""
        if self._clearance is None or not rate.any():
            return False
        brake = rate * np.abs(rate) / (2.0 * self._acceleration)
        stop = r + self._period * rate + brake
        if not self._clearance.touches(stop, self._margin):
            return False
        now = self._clearance.distances(r)
        then = self._clearance.distances(stop)
        return bool(((then < self._margin) & (then < now)).any())


_plans: dict[tuple[object, ...], Transition] = {}


class TransitionController:
    """Take a loose joint over its unstable equilibrium to the stable one beyond (Controller).

    The arm starts at rest, the loose joint leaning on something. At the end the other joints are
    where they were, and link 3 hangs. The scenario states that elbow 2 is loose.

    Args:
        setup: robot and scenario; its initial state is the first equilibrium.
        via: angles of shoulder and elbow 1 at which link 3 tips over by itself: the
            optimisation starts from a motion that goes there.
        length: of the transition.
        speed: over the speed limits, which are estimates: within them no transition keeps clear.
        bandwidth: of turret, camera and wrist, which are held.

    Raises:
        AccordError: unless `via` is two numbers and elbow 2 is loose.
    """

    def __init__(
        self,
        setup: Setup,
        via: Sequence[si.Radians],
        length: si.Seconds = 9.0,
        speed: float = 1.3,
        bandwidth: si.RadiansPerSecond = 10.0,
    ) -> None:
        with compiled("the controller transition"):
            from packbot.planning.failed_arm import FailedArm
            from packbot.planning.transition import PlanarArm
        self._via, self._length = np.array(via, dtype=float), length
        if self._via.shape != (2,) or not np.isfinite([*self._via, length]).all() or length <= 0.0:
            raise AccordError("via takes two angles, and length is a positive time")
        arm = FailedArm(setup, setup.faults, q=setup.initial.q)
        self.planar = PlanarArm(setup, arm, setup.initial.q, speed)
        self._control = FailedTorque(setup, arm, bandwidth)
        self._limits, self._bandwidth = setup.effort_limits, bandwidth
        self._period = setup.scenario.control_period
        asked = (*self._via, length, speed, self._period, *setup.initial.q)
        self._key = (asked, setup.faults, repr(setup.parameters))
        self.motion: Transition | None = None

    def reset(self, seed: int) -> None:
        """Plan the transition, once in a process for what it depends on; nothing is drawn."""
        if self._key not in _plans:
            _plans[self._key] = self.planar.plan(self._via, self._length)
        self.motion = _plans[self._key]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that follow the transition, and hold its end."""
        assert self.motion is not None
        efforts = self._control.efforts(state.q, state.qd, self.accelerations(state))
        return Command(clip_efforts(efforts, self._limits))

    def accelerations(self, state: RobotState) -> Array:
        """Return those that the active joints shall have (7,) [rad/s^2]."""
        assert self.motion is not None
        plane, active, w = self.planar.plane, self.planar.active, self._bandwidth
        a = w * w * (self.planar.start - state.q) - 2.0 * w * state.qd
        k = round(state.time / self._period)
        aim, u, gain = self.motion.at(k)
        a[active] = u + gain @ (np.concatenate([state.q[plane], state.qd[plane]]) - aim)
        return a
