"""The unknowns of the arm in identification: their vector, their prior, and the arm they describe.

Identification (estimate.py) finds from a recorded motion by how much the Packbot's arm differs from
its model. The unknowns are these errors: a vector x (u,) of named blocks, whose lengths and units
are those of `BLOCK_LENGTHS`. They are errors of masses, centres of mass and lengths; a payload;
encoder zeros; relative errors of torque constants (gain) and of viscous friction; dry friction
(coulomb), and the logarithm of the rate below which it falls (knee); when in a physics step an
engine evaluates friction (instant); and the latency of the efforts. `Prior` is what is known before
a motion, and `Unknowns` computes rigid-body efforts and their derivatives by x. drawn_arm.py makes
setups of arms with given values.

Names of blocks are keys of files of identified arms and must stay. test_identification and
test_detector compare drawn arms with what was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array
from roboaccord.scenario import Setup

from roboaccord_studies.packbot.detection.uncertainty import UNIFORM, Uncertainty
from roboaccord_studies.packbot.identification.base_parameters import State

N = len(JOINTS)
# Lengths of the blocks of the vector, in its order; the first three are inertial.
BLOCK_LENGTHS = {
    "mass": N,  # kg
    "centre": 3 * N,  # m
    "payload": 3,  # its mass [kg], and its offset in y and z from the finger tips [m]
    "length": 3 * N,  # m
    "zero": N,  # rad
    "gain": N,  # 1
    "viscous": N,  # 1
    "coulomb": N,  # N m
    "knee": N,  # logarithm of a ratio of rates
    "instant": N,  # physics steps
    "latency": 1,  # ticks (control periods)
}
# Index at which each block of the vector begins, and at which the last one ends.
ENDS = np.cumsum([0, *BLOCK_LENGTHS.values()]).tolist()
# Where each block is in the vector.
BLOCKS = {name: slice(a, b) for name, (a, b) in zip(BLOCK_LENGTHS, pairwise(ENDS), strict=True)}
SIZE = ENDS[-1]  # u, number of unknowns
INERTIAL = slice(0, BLOCKS["payload"].stop)  # of the inertial blocks
CENTRES = range(BLOCKS["centre"].start, BLOCKS["centre"].stop)  # indices of that block
# Blocks that the fields of `Uncertainty` with a half width for each joint are about.
BLOCK_OF = {"mass": "mass", "centre": "centre", "length": "length", "viscous": "viscous"}
BLOCK_OF |= {"torque_constant": "gain", "encoder_offset": "zero"}
# Prior standard deviation of ln(e), with the rate e below which dry friction falls: within a factor
# of exp(1.5) = 4.5.
KNEE_DEVIATION = 1.5
# Lower bound of prior standard deviations, whose inverses are weights: 0 would divide by 0, and an
# unknown with this deviation stays at its mean.
LEAST_DEVIATION = 1e-12
# kg, m; step of forward differences by masses and the payload, whose effects are linear: any would
# do but for round-off.
MASS_STEP = 1e-5
STEP = 1e-6  # step of forward differences of other unknowns, near the square root of round-off
UNIT = np.eye(SIZE)  # a unit vector for each unknown


def vector(parts: Mapping[str, ArrayLike]) -> Array:
    """Return the vector (u,) with the given values of some blocks, and 0 in the others."""
    x = np.zeros(SIZE)
    for name, values in parts.items():
        x[BLOCKS[name]] = values
    return x


class Prior(NamedTuple):
    """What is known before a motion: means and standard deviations of the unknowns (u,)."""

    mean: Array
    deviation: Array

    @classmethod
    def of(cls, u: Uncertainty, limits: Array) -> Prior:
        """Return the prior of an uncertainty, whose fields are half widths of uniform errors.

        Args:
            u: by how much the arm may differ from its model.
            limits: effort limits (7,) [N m].
        """
        half_widths: dict[str, ArrayLike] = {"latency": 0.5 * u.latency, "instant": 1.0}
        half_widths |= {block: getattr(u, name) for name, block in BLOCK_OF.items()}
        half_widths["payload"] = [0.5 * u.payload, u.payload_offset, u.payload_offset]
        deviation = UNIFORM * vector(half_widths)
        deviation += vector({"knee": KNEE_DEVIATION, "coulomb": u.hidden(limits)})
        mean = vector({"payload": [0.5 * u.payload, 0.0, 0.0], "latency": 0.5 * u.latency})
        return cls(mean, np.maximum(deviation, LEAST_DEVIATION))


class Unknowns:
    """Arms and their efforts as functions of the unknowns x (u,).

    Args:
        setup: robot and scenario.

    Attributes:
        nominal: the arm by its model.
        viscous: viscous friction by the model (7,) [N m s/rad].
    """

    def __init__(self, setup: Setup) -> None:
        p = setup.parameters
        self.nominal = Arm.of(setup)
        self.viscous = p.of_joints("viscous")
        self._changed = Arm.of(setup)  # `arm` overwrites its inertias and lengths
        self._finger_tips = np.array([p.gripper_length, 0.0, 0.0])  # in the hand [m]

    def arm(self, x: Array) -> Arm:
        """Return the arm with the masses, centres, payload and lengths of x (u,)."""
        changed, nominal = self._changed.model, self.nominal.model
        masses = x[BLOCKS["mass"]]
        centres = x[BLOCKS["centre"]].reshape(N, 3)
        lengths = x[BLOCKS["length"]].reshape(N, 3)
        for j in range(N):
            number = j + 1  # of the joint in Pinocchio, whose joint 0 is the world
            body = nominal.inertias[number]
            ratio = 1.0 + masses[j] / body.mass
            inertia = pin.Inertia(ratio * body.mass, body.lever + centres[j], ratio * body.inertia)
            changed.inertias[number] = inertia
            origin = nominal.jointPlacements[number].translation
            changed.jointPlacements[number].translation = origin + lengths[j]
        # Added as inertial parameters, because the payload may be negative during the estimation.
        payload, y, z = x[BLOCKS["payload"]].tolist()
        point = self._finger_tips + np.array([0.0, y, z])
        per_mass = pin.Inertia(1.0, point, np.zeros((3, 3))).toDynamicParameters()
        hand = nominal.getJointId("wrist")
        loaded = changed.inertias[hand].toDynamicParameters() + payload * per_mass
        changed.inertias[hand] = pin.Inertia.FromDynamicParameters(loaded)
        return self._changed

    def inertial_slopes(self, x: Array) -> Array:
        """Return the derivatives of the links' parameters (70, i) by the inertial blocks (i,)."""
        nominal = self.arm(x).parameters
        jacobian = np.zeros((len(nominal), INERTIAL.stop))
        for i in range(INERTIAL.stop):
            step = STEP if i in CENTRES else MASS_STEP
            jacobian[:, i] = (self.arm(x + step * UNIT[i]).parameters - nominal) / step
        return jacobian

    def efforts(self, x: Array, states: list[State]) -> Array:
        """Return the efforts of rigid bodies (k, 7) [N m] at measured states."""
        arm, zeros = self.arm(x), x[BLOCKS["zero"]]
        return np.array([arm.efforts(q - zeros, qd, qdd) for q, qd, qdd in states])

    def slopes(self, x: Array, states: list[State]) -> Array:
        """Return the derivatives of `efforts` by x (k, 7, u)."""
        nominal = self.efforts(x, states)
        jacobian = np.zeros((*nominal.shape, SIZE))
        inertial = self.inertial_slopes(x)
        arm, zeros = self.arm(x), x[BLOCKS["zero"]]
        for row, (q, qd, qdd) in zip(jacobian, states, strict=True):
            row[:, INERTIAL] = arm.regressor(q - zeros, qd, qdd) @ inertial
        for name in ("length", "zero"):
            for i in range(*BLOCKS[name].indices(SIZE)):
                jacobian[:, :, i] = (self.efforts(x + STEP * UNIT[i], states) - nominal) / STEP
        return jacobian
