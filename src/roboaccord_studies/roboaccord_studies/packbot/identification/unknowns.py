"""The unknowns of the arm in identification: their vector, their prior, and arms with given values.

Identification (estimate.py) finds from a recorded motion by how much the Packbot's arm differs from
its model. The unknowns are these errors: a vector x (u,) of named blocks, which are errors of
masses, centres of mass and lengths; a payload; encoder zeros; relative errors of torque constants
(gain) and of viscous friction; dry friction (coulomb), and the logarithm of the rate below which it
falls (knee); when in a physics step an engine evaluates friction (instant); and the latency of the
efforts. `Prior` is what is known before a motion, `Unknowns` computes rigid-body efforts and their
derivatives by x, and `drawn_setup` makes the setup of an arm with given values.

Names of blocks are keys of files of identified arms and must stay. test_identification and
test_detector compare drawn arms with what was drawn.
"""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS
from roboaccord.contract import Array
from roboaccord.scenario import Scenario, Setup, find_robot, make_scenario

from roboaccord_studies.packbot.detection.uncertainty import UNIFORM, Uncertainty
from roboaccord_studies.packbot.identification.base_parameters import LINKS, State

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
# Blocks that the fields of `Uncertainty` with a half width for each joint are about.
BLOCK_OF = {"mass": "mass", "centre": "centre", "length": "length", "viscous": "viscous"}
BLOCK_OF |= {"torque_constant": "gain", "encoder_offset": "zero"}
# kg, m; step of forward differences by masses and the payload, whose effects are linear: any would
# do but for round-off.
MASS_STEP = 1e-5
STEP = 1e-6  # step of forward differences of other unknowns, near the square root of round-off
# Prior standard deviation of ln(e), with the rate e below which dry friction falls: within a factor
# of exp(1.5) = 4.5.
KNEE_DEVIATION = 1.5
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")  # attributes of an inertia in a URDF
# Index at which each block of the vector begins, and at which the last one ends.
ENDS = np.cumsum([0, *BLOCK_LENGTHS.values()]).tolist()
# Where each block is in the vector.
BLOCKS = {name: slice(a, b) for name, (a, b) in zip(BLOCK_LENGTHS, pairwise(ENDS), strict=True)}
SIZE = ENDS[-1]  # u, number of unknowns
INERTIAL = slice(0, BLOCKS["payload"].stop)  # of the inertial blocks
CENTRES = range(BLOCKS["centre"].start, BLOCKS["centre"].stop)  # indices of that block
UNIT = np.eye(SIZE)  # a unit vector for each unknown


def vector(parts: Mapping[str, ArrayLike]) -> Array:
    """Return the vector (u,) with the given values of some blocks, and 0 in the others."""
    x = np.zeros(SIZE)
    for name, values in parts.items():
        x[BLOCKS[name]] = values
    return x


@dataclass(frozen=True)
class Prior:
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
        return cls(mean, np.maximum(deviation, STEP**2))


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


@dataclass(frozen=True)
class Draw:
    """Errors of one arm, as they are drawn at random or were identified.

    Args:
        x: vector of the unknowns (u,), block by block as in `BLOCKS`: masses [kg], centres and
            lengths [m], the payload [kg] and its offset from the finger tips [m], zeros [rad],
            relative errors of gains and viscous friction, dry friction [N m], latency [ticks].
        step: of the encoders [rad].
        noise: of angles and rates [rad, rad/s].
    """

    x: Array
    step: float = 0.0
    noise: tuple[float, float] = (0.0, 0.0)

    def of(self, block: str) -> Array:
        """Return a block of the unknowns, by its name in `BLOCKS`."""
        return self.x[BLOCKS[block]]


def with_friction(draw: Draw, scenario: Scenario) -> Scenario:
    """Return a scenario whose joints have the friction of a drawn arm."""
    viscous = (1.0 + draw.of("viscous")) * Setup.of(scenario).parameters.of_joints("viscous")
    data = scenario.data()
    parameters = dict(data["parameters"])
    for kind, values in (("viscous", viscous), ("coulomb", draw.of("coulomb"))):
        parameters |= {f"{kind}_{joint}": float(x) for joint, x in zip(JOINTS, values)}
    return make_scenario({**data, "parameters": parameters})


def drawn_setup(draw: Draw, scenario: Scenario) -> Setup:
    """Return a setup of the Packbot with the links, lengths and payload of a drawn arm.

    The robot is a copy, since all setups share it; its description is that of the drawn arm.
    """
    robot = copy.copy(find_robot("packbot"))
    nominal_description = robot.description

    def description(setup: Setup, base: str, more: Mapping[str, str]) -> tuple[str, str]:
        """Return the URDF of the drawn arm, and its source, as `Robot.description` does."""
        text, source = nominal_description(setup, base, more)
        return _changed_urdf(text, draw, setup.parameters.gripper_length), source

    robot.__dict__["description"] = description
    return Setup(robot, scenario)


def _changed_urdf(text: str, draw: Draw, reach: float) -> str:
    """Return a URDF with the errors of a draw; the finger tips are at `reach` [m] in the hand."""
    root = ET.fromstring(text)
    lengths, centres = draw.of("length").reshape(N, 3), draw.of("centre").reshape(N, 3)
    for j, (joint, link) in enumerate(zip(JOINTS, LINKS, strict=True)):
        _shift(root, f"joint[@name='{joint}']/origin", lengths[j])
        inertial = root.find(f"link[@name='{link}_link']/inertial")
        assert inertial is not None, link
        mass, inertia = inertial.find("mass"), inertial.find("inertia")
        assert mass is not None and inertia is not None
        nominal_mass = float(mass.attrib["value"])
        ratio = 1.0 + float(draw.of("mass")[j]) / nominal_mass
        mass.set("value", repr(ratio * nominal_mass))
        for key, value in inertia.attrib.items():
            inertia.set(key, repr(ratio * float(value)))
        _shift(root, f"link[@name='{link}_link']/inertial/origin", centres[j])
    payload, y, z = draw.of("payload").tolist()
    if payload:
        _load(root, payload, np.array([reach, y, z]))
    return ET.tostring(root, encoding="unicode")


def _shift(root: ET.Element, where: str, change: Array) -> None:
    """Move an origin of a URDF, found by its XPath `where`, by a vector (3,) [m]."""
    origin = root.find(where)
    assert origin is not None, where
    position = np.array([float(x) for x in origin.get("xyz", "0 0 0").split()])
    origin.set("xyz", " ".join(map(repr, (position + change).tolist())))


def _load(root: ET.Element, payload: float, offset: Array) -> None:
    """Add a payload at an offset (3,) [m] to the hand's inertia, whose frame is not turned."""
    inertial = root.find("link[@name='gripper_link']/inertial")
    assert inertial is not None
    mass, origin, inertia = (inertial.find(key) for key in ("mass", "origin", "inertia"))
    assert mass is not None and origin is not None and inertia is not None
    centre = np.array([float(x) for x in origin.attrib["xyz"].split()])
    xx, xy, xz, yy, yz, zz = (float(inertia.attrib[k]) for k in MOMENTS)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    hand = pin.Inertia(float(mass.attrib["value"]), centre, tensor)
    loaded = hand + pin.Inertia(payload, offset, np.zeros((3, 3)))
    mass.set("value", repr(float(loaded.mass)))
    origin.set("xyz", " ".join(map(repr, loaded.lever.tolist())))
    values = loaded.inertia[np.triu_indices(3)]
    for key, value in zip(MOMENTS, values.tolist(), strict=True):
        inertia.set(key, repr(value))
