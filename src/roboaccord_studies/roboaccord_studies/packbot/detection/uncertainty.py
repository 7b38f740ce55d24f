"""By how much the arm may differ from its model, and the errors of joint efforts that follow.

An arm that merely differs from its model must not count as failed (detector.py). Rigid-body efforts
are linear in the inertial parameters pi of the links [Atkeson et al. 1986],

    tau = Y(q, qd, qdd) pi.

`effort_basis` expresses all errors of masses, centres of mass, lengths, encoder zeros and payload
as changes of pi, by least squares over many random states. A singular value decomposition then
keeps the few combinations whose efforts are large enough to be noticed beside dry friction.

The defaults of `Uncertainty` must stay, because drawn arms and all tables of
docs/packbot_failures.md depend on them: the one of masses is from the report's appendix A, the
others are our choice. MIN_EFFORT_RATIO may be tuned; test_detector compares the basis with drawn
arms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

import numpy as np
import pinocchio as pin
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array
from roboaccord.scenario import Setup

EXPECTED = 0.5  # mean of a quantity between 0 and 1, such as a payload over the largest one
UNIFORM = 3.0**-0.5  # standard deviation of an error that is uniform between -1 and 1
# Number of random states at which efforts are compared, and their seed: 700 equations for 70
# parameters.
STATES, SEED = 100, 0
# rad/s^2; standard deviation of the accelerations of these states: the limit that the controller
# `velocity` has by default
ACCELERATION = 2.0
# Smallest effort of a combination that counts as noticeable, over that which friction hides: 0.05^2
# is 0.25 % of its variance.
MIN_EFFORT_RATIO = 0.05
STEP = 1e-6  # m, rad; step of forward differences, near the square root of round-off
# Number of inertial parameters of a link: mass, first moments and inertia, 1 + 3 + 6.
LINK_SIZE = 10
# Relative size of singular values that are round-off in the least squares: differences with STEP
# have errors of 1e-10.
RANK_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Uncertainty:
    """By how much the arm may differ from its model: half widths of intervals, or upper bounds.

    Args:
        mass: of each link [kg]; the report's appendix A.
        centre: of mass of each link, in each direction [m].
        length: of each link, in each direction [m].
        torque_constant: of each drive, relative.
        viscous: friction of each joint, relative.
        coulomb: dry friction of each joint, part of its effort limit.
        encoder_offset: of each joint [rad].
        quantisation: step of the measured angles [rad].
        latency: of the efforts, in ticks, at most.
        payload: at the finger tips, in addition to the known one [kg], at most.
        payload_offset: of the payload, in each direction across the hand [m].
        angle_noise, rate_noise: standard deviations to begin with; noise is estimated [rad, rad/s].
    """

    mass: float = 0.1
    centre: float = 0.005
    length: float = 0.005
    torque_constant: float = 0.02
    viscous: float = 0.3
    coulomb: float = 0.01
    encoder_offset: float = 0.005
    quantisation: float = 2.0 * np.pi / 4096
    latency: float = 2.0
    payload: float = 2.0
    payload_offset: float = 0.03
    angle_noise: float = 1e-3
    rate_noise: float = 1e-2

    def __post_init__(self) -> None:
        """Refuse what is not a finite number from 0 on."""
        for name, value in asdict(self).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0.0 <= value < np.inf:
                raise ValueError(f"uncertainty.{name}: {value!r} is not a number from 0 on")

    @classmethod
    def read(cls, value: object) -> Uncertainty:
        """Return the uncertainties of a scenario's key `uncertainty`.

        Raises:
            ValueError: for an unknown key, or a value that is not a finite number from 0 on.
        """
        keys = [field.name for field in fields(cls)]
        if value is not None and not isinstance(value, Mapping):
            raise ValueError(f"uncertainty: {value!r} is not a mapping of keys to sizes")
        data = dict(value or {})
        for name in data:
            if name not in keys:
                raise ValueError(f"uncertainty: unknown key {name}; known: {', '.join(keys)}")
        return cls(**data)

    def scaled(self, scale: float) -> Uncertainty:
        """Return all uncertainties times a factor."""
        return Uncertainty(**{name: scale * value for name, value in asdict(self).items()})

    def hidden(self, limits: Array) -> Array:
        """Return the uncertainty of dry friction (7,) [N m] for effort limits (7,) [N m].

        Smaller efforts are hidden by it.
        """
        return self.coulomb * limits


def effort_basis(setup: Setup, arm: Arm, uncertainty: Uncertainty, hidden: Array) -> Array:
    """Return the r combinations of inertial parameters with noticeable efforts (70, r).

    They are scaled so that their factors have unit variance.

    Args:
        setup: robot and scenario.
        arm: the arm by its model, with its payload.
        uncertainty: by how much it may differ from the model.
        hidden: uncertainty of dry friction (7,) [N m].
    """
    # Random states.
    rng, p, n = np.random.default_rng(SEED), setup.parameters, len(JOINTS)
    lower, upper = p.limits
    q = rng.uniform(lower, upper, (STATES, n))
    qd = rng.uniform(-1.0, 1.0, (STATES, n)) * p.of_joints("speed_limit")
    qdd = ACCELERATION * rng.standard_normal((STATES, n))
    # Y at all of them (7 STATES, 70); efforts are weighted by the friction that hides them.
    rows = np.vstack([arm.regressor(*state) for state in zip(q, qd, qdd, strict=True)])
    weights = 1.0 / np.tile(np.maximum(hidden, STEP), STATES)[:, None]
    # Changes of the inertial parameters with nearly the efforts of errors of lengths and zeros.
    weighted = rows * weights
    targets = _effects_of_geometry(arm, uncertainty, q, qd, qdd) * weights
    projected = np.linalg.lstsq(weighted, targets, rcond=RANK_TOLERANCE)[0]
    errors = UNIFORM * np.hstack([_of_links(arm, uncertainty, p.gripper_length), projected])
    # Combinations with noticeable efforts.
    modes, sizes, _ = np.linalg.svd(rows @ errors * weights, full_matrices=False)
    is_noticeable = sizes > MIN_EFFORT_RATIO * np.sqrt(STATES)
    efforts = modes[:, is_noticeable] * sizes[is_noticeable]
    return np.ascontiguousarray(np.linalg.lstsq(weighted, efforts, rcond=RANK_TOLERANCE)[0])


def _effects_of_geometry(
    arm: Arm, uncertainty: Uncertainty, q: Array, qd: Array, qdd: Array
) -> Array:
    """Return the efforts of errors of lengths and encoder zeros at k states (7 k, 28) [N m].

    They are forward differences by each of them, times its uncertainty. The states are angles,
    rates and accelerations (k, 7).
    """

    def efforts(model: pin.Model, angles: Array) -> Array:
        """Return the efforts (7 k,) at all states, with other angles (k, 7)."""
        data = model.createData()
        states = zip(angles, qd, qdd, strict=True)
        return np.concatenate([pin.rnea(model, data, *state) for state in states])

    nominal, effects = efforts(arm.model, q), list[Array]()
    for j in range(len(JOINTS)):
        for axis in np.eye(3):
            other = pin.Model(arm.model)
            other.jointPlacements[j + 1].translation += STEP * axis
            effects.append(uncertainty.length * (efforts(other, q) - nominal) / STEP)
        turned = q + STEP * np.eye(len(JOINTS))[j]
        effects.append(uncertainty.encoder_offset * (efforts(arm.model, turned) - nominal) / STEP)
    return np.array(effects).T


def _of_links(arm: Arm, uncertainty: Uncertainty, reach: float) -> Array:
    """Return the changes of the inertial parameters by masses, centres and the payload (70, k).

    Args:
        arm: the arm by its model.
        uncertainty: sizes of the errors.
        reach: distance of the finger tips from the wrist [m].
    """
    n = len(JOINTS)
    columns = list[Array]()

    def add_column(joint: int, change: Array) -> None:
        """Add the change of one link's parameters; pinocchio counts joints from 1."""
        parameters = np.zeros((n, LINK_SIZE))
        parameters[joint - 1] = change
        columns.append(parameters.ravel())

    for j in range(1, n + 1):
        body = arm.model.inertias[j]
        add_column(j, uncertainty.mass * body.toDynamicParameters() / body.mass)
        for axis in np.eye(3):
            moved = pin.Inertia(body.mass, body.lever + STEP * axis, body.inertia)
            change = (moved.toDynamicParameters() - body.toDynamicParameters()) / STEP
            add_column(j, uncertainty.centre * change)
    hand = arm.model.getJointId("wrist")
    tip = np.array([reach, 0.0, 0.0])
    point = pin.Inertia(1.0, tip, np.zeros((3, 3))).toDynamicParameters()
    add_column(hand, EXPECTED * uncertainty.payload * point)
    for axis in np.eye(3)[1:]:
        offset = pin.Inertia(1.0, tip + STEP * axis, np.zeros((3, 3))).toDynamicParameters()
        size = uncertainty.payload * uncertainty.payload_offset
        add_column(hand, size * (offset - point) / STEP)
    return np.array(columns).T
