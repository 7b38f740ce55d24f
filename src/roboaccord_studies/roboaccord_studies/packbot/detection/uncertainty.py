"""Uncertainties of the arm, and those of the efforts of its joints that follow.

The defaults of `Uncertainty` are fixed: of masses by the report's appendix A, else our choice, on
which drawn arms and every table of docs/packbot_failures.md depend; and so are the fields' names,
keys of `controller.uncertainty`. LEAST may be tuned: how many combinations `effort_basis` keeps,
whose variance test_detector compares with that of drawn arms.

Rigid-body efforts are linear in the inertial parameters of the links [Atkeson et al. 1986],

    tau = Y(q, qd, qdd) pi,

and errors of masses, centres, lengths, encoder zeros and of what the hand carries are projected on
that space: over many states, the least squares of what each changes. The singular vectors of all
of them, in units of what the joints' friction hides, are the few numbers that matter.
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

EXPECTED = 0.5  # of what a payload or dry friction, whose sign is known, may be
UNIFORM = 3.0**-0.5  # standard deviation of an error that is uniform up to 1
STATES, SEED = 100, 0  # at which the efforts are compared
CHANGES = 2.0  # rad/s^2: standard deviation of the accelerations there
LEAST = 0.05  # of what friction hides: smaller effects are left to it
STEP = 1e-6  # of the differences that give derivatives


@dataclass(frozen=True)
class Uncertainty:
    """By how much the arm may differ from its model: half widths, or most.

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
        payload: at the finger tips, beside what is known [kg], at most.
        payload_offset: of the payload, beside the tips [m].
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
        """Refuse what is not a size."""
        for name, value in asdict(self).items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0.0 <= value < np.inf:
                raise ValueError(f"uncertainty.{name}: {value!r} is not a number from 0 on")

    @classmethod
    def read(cls, given: object) -> Uncertainty:
        """Return the uncertainties of a scenario's key `uncertainty`.

        Raises:
            ValueError: for an unknown key, or what is not a size.
        """
        keys = [field.name for field in fields(cls)]
        if given is not None and not isinstance(given, Mapping):
            raise ValueError(f"uncertainty: {given!r} is not a mapping of keys to sizes")
        data = dict(given or {})
        for name in data:
            if name not in keys:
                raise ValueError(f"uncertainty: unknown key {name}; known: {', '.join(keys)}")
        return cls(**data)

    def scaled(self, scale: float) -> Uncertainty:
        """Return all of them times a factor."""
        return Uncertainty(**{name: scale * value for name, value in asdict(self).items()})

    def hidden(self, limits: Array) -> Array:
        """Return the efforts that dry friction hides (7,) [N m], by effort limits [N m]."""
        return self.coulomb * limits


def effort_basis(setup: Setup, arm: Arm, uncertainty: Uncertainty, hidden: Array) -> Array:
    """Return changes of the inertial parameters (70, r), of unit variance, that matter.

    Args:
        setup: robot and scenario.
        arm: as known, with its payload.
        uncertainty: of it.
        hidden: efforts that do not matter (7,) [N m].
    """
    rng, p = np.random.default_rng(SEED), setup.parameters
    n = len(JOINTS)
    lower, upper = p.limits
    q = rng.uniform(lower, upper, (STATES, n))
    qd = rng.uniform(-1.0, 1.0, (STATES, n)) * p.of_joints("speed_limit")
    qdd = CHANGES * rng.standard_normal((STATES, n))
    rows = np.vstack([arm.regressor(*state) for state in zip(q, qd, qdd, strict=True)])
    weights = 1.0 / np.tile(np.maximum(hidden, STEP), STATES)

    def efforts(model: pin.Model, angles: Array) -> Array:
        data = model.createData()
        return np.concatenate(
            [pin.rnea(model, data, *s) for s in zip(angles, qd, qdd, strict=True)]
        )

    nominal = efforts(arm.model, q)
    effects = list[Array]()
    for j in range(1, n + 1):
        for axis in np.eye(3):
            other = pin.Model(arm.model)
            other.jointPlacements[j].translation += STEP * axis
            effects.append(uncertainty.length * (efforts(other, q) - nominal) / STEP)
        turned = q + STEP * np.eye(n)[j - 1]
        effects.append(uncertainty.encoder_offset * (efforts(arm.model, turned) - nominal) / STEP)
    projected = np.linalg.lstsq(
        rows * weights[:, None], np.array(effects).T * weights[:, None], rcond=1e-9
    )[0]
    all_ = UNIFORM * np.hstack([_of_links(arm, uncertainty, p.gripper_length), projected])
    basis, sizes, _ = np.linalg.svd(rows @ all_ * weights[:, None], full_matrices=False)
    keep = sizes > LEAST * np.sqrt(STATES)
    # The least-squares combination of the columns that makes each singular vector.
    weighted = rows * weights[:, None]
    causes = np.linalg.lstsq(weighted, basis[:, keep] * sizes[keep], rcond=1e-9)[0]
    return np.ascontiguousarray(causes)


def _of_links(arm: Arm, uncertainty: Uncertainty, reach: float) -> Array:
    """Return the changes of the inertial parameters by masses, centres and the payload (70, k)."""
    n = len(JOINTS)
    columns = list[Array]()

    def column(joint: int, change: Array) -> None:
        whole = np.zeros((n, 10))
        whole[joint - 1] = change
        columns.append(whole.ravel())

    for j in range(1, n + 1):
        body = arm.model.inertias[j]
        column(j, uncertainty.mass * body.toDynamicParameters() / body.mass)
        for axis in np.eye(3):
            moved = pin.Inertia(body.mass, body.lever + STEP * axis, body.inertia)
            change = (moved.toDynamicParameters() - body.toDynamicParameters()) / STEP
            column(j, uncertainty.centre * change)
    hand = arm.model.getJointId("wrist")
    tip = np.array([reach, 0.0, 0.0])
    point = pin.Inertia(1.0, tip, np.zeros((3, 3))).toDynamicParameters()
    column(hand, EXPECTED * uncertainty.payload * point)
    for axis in np.eye(3)[1:]:
        beside = pin.Inertia(1.0, tip + STEP * axis, np.zeros((3, 3))).toDynamicParameters()
        column(hand, uncertainty.payload * uncertainty.payload_offset * (beside - point) / STEP)
    return np.array(columns).T
