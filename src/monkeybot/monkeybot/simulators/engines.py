"""The MonkeyBot in a physics engine: one model for each mode, joined by plastic impacts.

A mode is the set of hands that the magnets hold. In the model of a swing the held hand is a hinge
to the world, so that it stays exactly where it gripped; a constraint that an engine adds to a free
body would let it drift. In flight the base is free. When the magnets change, the state is moved to
the model of the new mode. A hand that grips comes to rest by a plastic impact, which is computed
here with the engine's own mass matrix (`Arm.grip` in model/coordinates.py). In between, the state
is u = (th1, th2, w1, w2, y, z, vy, vz) in the plane of the wall: the angles of link A and of the
elbow, and hand A.

HINGES and PLANE must agree with the joints of the URDF. A new mode needs a member of Mode, a model
in `model_of` and a branch in `_to_plane`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from roboaccord import engines
from roboaccord.contract import Acceleration, Array, Command, Engine, Event, RobotState, check_known
from roboaccord.scenario import Setup
from roboaccord.simulators import LOCK_INERTIA, JointFriction, Simulator, losses

from monkeybot.model.coordinates import MAGNETS, MOVING, RATES, Arm, Mode, mode_of, pack, unpack
from monkeybot.model.parameters import MonkeyBotParameters

HINGES = {Mode.SWING_A: "hand_a", Mode.SWING_B: "hand_b"}  # joints of the URDF at the hands
PLANE = [1, 2, 3, 6]  # indices of y, z, roll and elbow among the coordinates of a free base


def model_of(setup: Setup, mode: Mode) -> engines.EngineModel:
    """Return the engine's model for a mode: elbow and hinge at the held hand, or a free base."""
    p: MonkeyBotParameters = setup.parameters
    hinge = HINGES.get(mode)
    with_hinge = slice(0 if hinge else 1, None)  # of entries for hinge and elbow
    viscous = np.array([p.viscous_hand, p.viscous_elbow])[with_hinge]
    constant = np.array([p.constant_hand, p.constant_elbow])[with_hinge]
    friction = JointFriction(viscous=viscous, constant=constant, speed=p.friction_speed)
    root = "world" if hinge else "base_link"
    return engines.EngineModel(
        urdf=setup.urdf(base=hinge or "free", root=root),
        base="fixed" if hinge else "free",
        root=root,
        joints=(hinge, *setup.joints) if hinge else setup.joints,
        effort_limits=np.array([0.0, *setup.effort_limits])[with_hinge],
        physics_step=setup.scenario.physics_step,
        gravity=p.gravity,
        friction=None if p.frictionless else friction,
        restitution=0.0,
        options=setup.scenario.engine_options,
    )


class EngineMonkeyBot(Simulator):
    """Simulate the MonkeyBot in an engine.

    Args:
        setup: robot and scenario.
        engine: by name or specification; a restitution in it makes the impulses of grips larger by
            that part.
    """

    channels = losses.CHANNELS

    def __init__(self, setup: Setup, engine: Engine) -> None:
        self._models = {m: engines.simulate_model(model_of(setup, m), engine) for m in MOVING}
        flight = self._models[Mode.FLIGHT]
        self.name, self.version, self.order = flight.name, flight.version, flight.order
        step, faults, hinges = setup.scenario.physics_step, setup.faults, setup.tree.hinges
        super().__init__(setup.joints, flight.effort_limits, step, faults=faults, hinges=hinges)
        for model in self._models.values():
            model.effort_limits = np.full(len(model.joints), np.inf)  # brakes are not limited
        self._restitution = flight.restitution or 0.0
        self._arm = Arm(setup.parameters.length_a, setup.parameters.length_b)
        self._rotor = 0.0  # inertia added at the elbow, large while it is locked [kg m^2]
        self._mode = Mode.FLIGHT
        self._plane_state = np.zeros(8)  # u, the state in the plane of the wall
        self._held_place = np.zeros(2)  # position of the held hand in that plane [m]
        self.reset(setup.initial)

    def _start(self, state: RobotState) -> None:
        """Begin at a state, in which a held hand stands still."""
        self._enter(mode_of(state.switches), pack(state))

    def _place(self, state: RobotState) -> None:
        """Move to a state in the present mode."""
        self._enter(self._mode, pack(state))

    def _read(self) -> RobotState:
        """Return the present state of the workspace."""
        return unpack(self._plane_state, time=self._time, effort=self._effort, mode=self._mode)

    def _advance(self, command: Command, duration: float) -> None:
        """Switch the magnets, then let the engine's model move."""
        self._switch(command.switches)
        if self._mode is not Mode.FIXED:
            model = self._models[self._mode]
            effort = np.array([0.0, *self._effort]) if self._mode in HINGES else self._effort
            self._plane_state = self._to_plane(model.step(Command(effort), duration))
            for channel, energy in model.take_losses().items():
                self._losses.add(channel, energy)

    def meter(self) -> None:
        """Start to measure losses, in the models as well."""
        super().meter()
        for model in self._models.values():
            model.meter()

    def lock(self, joint: int, locked: bool) -> None:
        """Lock the elbow by a large inertia, or release it."""
        self._rotor = LOCK_INERTIA if locked else 0.0
        for model in self._models.values():
            model.lock(len(model.joints) - 1, locked)  # the elbow is the last joint

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return the accelerations of link A's frame and of the elbow; magnets hold.

        The model of a swing has the acceleration of the hinge. On hand B it is that of link B, from
        which those of link A and of hand A, its origin, follow.
        """
        u, mode = pack(state), mode_of(state.switches)
        if mode is Mode.FIXED:
            return Acceleration(np.zeros(6), np.zeros(1))
        model = self._models[mode]
        if mode is Mode.FLIGHT:
            return model.acceleration(state, effort)
        hinged = model.acceleration(_hinged(mode, u), np.array([0.0, *effort]))
        assert hinged  # an engine is dynamic
        hinge, elbow = hinged.joints
        base = np.zeros(6)  # along x, y, z [m/s^2], and about them [rad/s^2]
        if mode is Mode.SWING_A:
            base[3] = hinge
        else:
            base[3] = hinge - elbow
            angles = np.array([base[3], elbow])
            base[1:3] = -self._arm.jacobian(u) @ angles - self._arm.centripetal(u)
        return Acceleration(base, hinged.joints[1:])

    def parts(self) -> Sequence[engines.EngineSimulator]:
        """Return the engine's simulators of all modes."""
        return tuple(self._models.values())

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link as the engine has it [kg]."""
        return self._models[Mode.FLIGHT].masses()

    def mass_matrix(self, state: RobotState) -> Array:
        """Return the engine's mass matrix of (y, z, th1, th2) with no hand held (4, 4)."""
        mass = self._models[Mode.FLIGHT].mass_matrix(state)[np.ix_(PLANE, PLANE)]
        mass[-1, -1] += self._rotor
        return mass

    def _enter(self, mode: Mode, u: Array) -> None:
        """Continue in a mode from a state u in the plane (8,); a held hand stays where it is."""
        self._mode, self._plane_state = mode, u.copy()
        if mode is Mode.FIXED:
            self._plane_state[[2, 3, 6, 7]] = 0.0
            return
        if mode is Mode.FLIGHT:
            start = unpack(u, time=self._time, effort=self._effort, mode=mode)
        else:
            self._held_place = u[4:6] + (self._arm.reach(u) if mode is Mode.SWING_B else 0.0)
            start = _hinged(mode, u)
        self._plane_state = self._to_plane(self._models[mode].reset(start))

    def _to_plane(self, state: RobotState) -> Array:
        """Return the state in the plane (8,) for a state of the present mode's model."""
        if self._mode is Mode.FLIGHT:
            return pack(state)
        (angle, th2), (rate, w2) = state.q, state.qd
        if self._mode is Mode.SWING_A:
            return np.array([angle, th2, rate, w2, *self._held_place, 0.0, 0.0])
        u = np.array([angle - th2, th2, rate - w2, w2, 0.0, 0.0, 0.0, 0.0])
        u[4:6] = self._held_place - self._arm.reach(u)
        u[6:] = -self._arm.jacobian(u) @ u[2:4]
        return u

    def _switch(self, switches: Mapping[str, bool]) -> None:
        """Switch the magnets as commanded, all at once; a hand that grips comes to rest."""
        check_known("unknown switch ", switches, MAGNETS)
        before = self._mode.switches
        after = {**before, **switches}
        changed = [name for name in MAGNETS if after[name] is not before[name]]
        if not changed:
            return
        u, impulses = self._plane_state, dict[str, float]()
        if any(after[name] for name in changed):
            held = [name for name in MAGNETS if after[name]]
            mass = self.mass_matrix(self.state())
            u, impulses = self._arm.grip(u, mass, held)
            if self._restitution:
                u[2:4] += self._restitution * (u[2:4] - self._plane_state[2:4])
            rates, rates_after = self._plane_state[RATES], u[RATES]
            lost = 0.5 * float(rates @ mass @ rates - rates_after @ mass @ rates_after)
            self._losses.add(losses.IMPACTS, lost)
        for name in sorted(changed, key=lambda name: after[name]):  # releases first
            kind = "magnet_on" if after[name] else "magnet_off"
            impulse = impulses[name] if after[name] else 0.0
            self._events.append(Event(self.state().time, kind, name, impulse))
        self._enter(mode_of(after), u)


def _hinged(mode: Mode, u: Array) -> RobotState:
    """Return the state of the model with a hinge: angles and rates of hinge and elbow."""
    on_b = mode is Mode.SWING_B
    q = np.array([u[0] + on_b * u[1], u[1]])
    qd = np.array([u[2] + on_b * u[3], u[3]])
    return RobotState(0.0, q, qd, np.zeros(2))
