"""What is not known of the arm, as a vector with the report's uncertainties as its prior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pinocchio as pin
from roboaccord.contract import Array
from roboaccord.scenario import Setup

from packbot.detection.uncertainty import UNIFORM, Uncertainty
from packbot.identification.base import State
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS

N = len(JOINTS)
PARTS = {
    "mass": N, "centre": 3 * N, "payload": 3, "length": 3 * N, "zero": N, "gain": N, "viscous": N,
    "coulomb": N, "knee": N, "instant": N, "latency": 1,
}  # fmt: skip
"""Lengths of the parts of the vector; the first three are inertial."""
STEPS = {"mass": 1e-5, "payload": 1e-5}  # of differences that give derivatives
STEP = 1e-6
KNEE = 1.5  # of the logarithm of the rate below which dry friction falls


def places() -> dict[str, slice]:
    """Return where each part is in the vector."""
    ends = np.cumsum([*PARTS.values()]).tolist()
    starts = [0, *ends[:-1]]
    return {name: slice(a, b) for name, a, b in zip(PARTS, starts, ends, strict=True)}


PLACES = places()
SIZE = sum(PARTS.values())
INERTIAL = slice(0, PLACES["payload"].stop)


@dataclass(frozen=True)
class Prior:
    """Hold what is known before: means and standard deviations (u,)."""

    mean: Array
    deviation: Array

    @classmethod
    def of(cls, u: Uncertainty, limits: Array) -> Prior:
        """Return the prior of uncertainties, half widths of what is uniform.

        Args:
            u: uncertainties.
            limits: of the efforts (7,) [N m].
        """
        mean, deviation = np.zeros(SIZE), np.zeros(SIZE)
        halves = {
            "mass": u.mass, "centre": u.centre, "length": u.length, "zero": u.encoder_offset,
            "gain": u.torque_constant, "viscous": u.viscous, "latency": 0.5 * u.latency,
            "instant": 1.0, "payload": [0.5 * u.payload, u.payload_offset, u.payload_offset],
        }  # fmt: skip
        for name, half in halves.items():
            deviation[PLACES[name]] = UNIFORM * np.asarray(half)
        deviation[PLACES["knee"]] = KNEE
        deviation[PLACES["coulomb"]] = u.hidden(limits)
        mean[PLACES["payload"].start] = 0.5 * u.payload
        mean[PLACES["latency"]] = 0.5 * u.latency
        return cls(mean, np.maximum(deviation, STEP**2))


class Unknowns:
    """Make arms of the vector x (u,) of what is not known.

    Args:
        setup: robot and scenario.

    Attributes:
        known: the arm as it is known.
        viscous: friction as it is known (7,) [N m s/rad].
    """

    def __init__(self, setup: Setup) -> None:
        self._setup, p = setup, setup.parameters
        self.known, self.viscous = Arm.of(setup), p.of_joints("viscous")
        self._tip = np.array([p.gripper_length, 0.0, 0.0])

    @cached_property
    def _blank(self) -> Arm:
        return Arm.of(self._setup)

    def arm(self, x: Array) -> Arm:
        """Return the arm with masses, centres, payload and lengths of its own."""
        arm, known = self._blank, self.known.model
        masses = x[PLACES["mass"]]
        centres, lengths = (x[PLACES[name]].reshape(N, 3) for name in ("centre", "length"))
        for j in range(1, N + 1):
            body = known.inertias[j]
            part = 1.0 + masses[j - 1] / body.mass
            arm.model.inertias[j] = pin.Inertia(
                part * body.mass, body.lever + centres[j - 1], part * body.inertia
            )
            place = known.jointPlacements[j]
            arm.model.jointPlacements[j].translation = place.translation + lengths[j - 1]
        mass, *beside = x[PLACES["payload"]].tolist()
        # By its moments: a payload below 0 is possible on the way to an estimate.
        point = self._tip + np.array([0.0, *beside])
        load = pin.Inertia(1.0, point, np.zeros((3, 3))).toDynamicParameters()
        hand = self.known.model.getJointId("wrist")
        both = arm.model.inertias[hand].toDynamicParameters() + mass * load
        arm.model.inertias[hand] = pin.Inertia.FromDynamicParameters(both)
        return arm

    def inertial(self, x: Array) -> tuple[Array, Array]:
        """Return the links' parameters (70,), and how they change with the inertial part."""
        known = self.arm(x).parameters
        found = np.zeros((len(known), INERTIAL.stop))
        for name in ("mass", "centre", "payload"):
            for i in range(*PLACES[name].indices(SIZE)):
                step = STEPS.get(name, STEP)
                found[:, i] = (self.arm(_moved(x, i, step)).parameters - known) / step
        return known, found

    def efforts(self, x: Array, states: list[State]) -> Array:
        """Return the efforts of rigid bodies (k, 7) [N m] at measured states."""
        arm, zeros = self.arm(x), x[PLACES["zero"]]
        return np.array([arm.efforts(q - zeros, qd, qdd) for q, qd, qdd in states])

    def slopes(self, x: Array, states: list[State]) -> Array:
        """Return how these change with x (k, 7, u)."""
        known = self.efforts(x, states)
        found = np.zeros((*known.shape, SIZE))
        _, inertial = self.inertial(x)
        arm, zeros = self.arm(x), x[PLACES["zero"]]
        for row, (q, qd, qdd) in zip(found, states, strict=True):
            row[:, INERTIAL] = arm.regressor(q - zeros, qd, qdd) @ inertial
        for name in ("length", "zero"):
            for i in range(*PLACES[name].indices(SIZE)):
                found[:, :, i] = (self.efforts(_moved(x, i, STEP), states) - known) / STEP
        return found


def _moved(x: Array, i: int, step: float) -> Array:
    moved = x.copy()
    moved[i] += step
    return moved
