"""Arms that differ from their model by given errors, as setups that every simulator takes.

A `Draw` has the errors of one arm: drawn at random by campaigns and tests, or identified
(known.py). `with_friction` puts its friction into the parameters of a scenario. `drawn_setup` puts
its masses, centres of mass, lengths and payload into the robot's description (URDF). Encoders,
torque constants and latency are no part of a setup; whoever runs it applies them.

test_identification and test_detector compare drawn arms with what was drawn.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from packbot.model.parameters import JOINTS
from packbot.robot import Packbot
from roboaccord.contract import Array
from roboaccord.scenario import Scenario, Setup, make_scenario

from roboaccord_studies.packbot.identification.base_parameters import LINK_NAMES
from roboaccord_studies.packbot.identification.unknowns import BLOCKS, N

URDF_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")  # attributes of `inertia` in a URDF


class Draw(NamedTuple):
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


class DrawnPackbot(Packbot):
    """The Packbot with the links, lengths and payload of a drawn arm."""

    def __init__(self, draw: Draw) -> None:
        super().__init__()
        self._draw = draw

    def description(self, setup: Setup, base: str, more: Mapping[str, str]) -> tuple[str, str]:
        """Return the URDF of the drawn arm, and the name of the nominal one's file."""
        text, source = super().description(setup, base, more)
        return _changed_urdf(text, self._draw, setup.parameters.gripper_length), source


def drawn_setup(draw: Draw, scenario: Scenario) -> Setup:
    """Return a setup of the Packbot with the links, lengths and payload of a drawn arm."""
    return Setup(DrawnPackbot(draw), scenario)


def _changed_urdf(text: str, draw: Draw, reach: float) -> str:
    """Return a URDF with the errors of a draw; the finger tips are at `reach` [m] in the hand."""
    root = ET.fromstring(text)
    lengths = draw.of("length").reshape(N, 3)
    centres = draw.of("centre").reshape(N, 3)
    for j, (joint, link) in enumerate(zip(JOINTS, LINK_NAMES, strict=True)):
        origin = root.find(f"joint[@name='{joint}']/origin")
        assert origin is not None, joint
        _shift(origin, lengths[j])
        inertial = _inertial(root, link)
        nominal_mass = float(inertial["mass"].attrib["value"])
        ratio = 1.0 + float(draw.of("mass")[j]) / nominal_mass
        inertial["mass"].set("value", repr(ratio * nominal_mass))
        for key, value in inertial["inertia"].attrib.items():
            inertial["inertia"].set(key, repr(ratio * float(value)))
        _shift(inertial["origin"], centres[j])
    payload, y, z = draw.of("payload").tolist()
    if payload:
        _load(_inertial(root, "gripper"), payload, np.array([reach, y, z]))
    return ET.tostring(root, encoding="unicode")


def _inertial(root: ET.Element, link: str) -> dict[str, ET.Element]:
    """Return the elements `mass`, `origin` and `inertia` of a link of a URDF, by name."""
    elements = root.iterfind(f"link[@name='{link}_link']/inertial/*")
    return {element.tag: element for element in elements}


def _shift(origin: ET.Element, change: Array) -> None:
    """Move an origin of a URDF by a vector (3,) [m]."""
    position = np.array([float(x) for x in origin.get("xyz", "0 0 0").split()])
    origin.set("xyz", " ".join(map(repr, (position + change).tolist())))


def _load(hand: Mapping[str, ET.Element], payload: float, offset: Array) -> None:
    """Add a payload [kg] at an offset (3,) [m] to the hand's inertia, whose frame is not turned."""
    centre = np.array([float(x) for x in hand["origin"].attrib["xyz"].split()])
    xx, xy, xz, yy, yz, zz = (float(hand["inertia"].attrib[k]) for k in URDF_MOMENTS)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    nominal = pin.Inertia(float(hand["mass"].attrib["value"]), centre, tensor)
    loaded = nominal + pin.Inertia(payload, offset, np.zeros((3, 3)))
    hand["mass"].set("value", repr(float(loaded.mass)))
    hand["origin"].set("xyz", " ".join(map(repr, loaded.lever.tolist())))
    moments = loaded.inertia[np.triu_indices(3)].tolist()
    for key, moment in zip(URDF_MOMENTS, moments, strict=True):
        hand["inertia"].set(key, repr(moment))
