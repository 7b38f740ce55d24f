"""The description of an arm that is off from the one that is known, as every simulator reads it."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from roboaccord.contract import Array
from roboaccord.scenario import Scenario, Setup, find_robot, make_scenario

from packbot.model.parameters import JOINTS


@dataclass(frozen=True)
class Draw:
    """Hold what an arm is off by.

    Args:
        masses: of each link, by its name [kg].
        centres: of its mass (3,) [m], by the same.
        lengths: of each joint's origin (3,) [m], by its name.
        payload: at the finger tips [kg], `beside` them (3,) [m].
        gains: of the drives (7,), viscous friction as a factor (7,), dry friction (7,) [N m].
        zeros: of the encoders (7,) [rad], and their step [rad].
        latency: of efforts [ticks].
        noise: of angles and rates [rad, rad/s].
    """

    masses: Mapping[str, float]
    centres: Mapping[str, Array]
    lengths: Mapping[str, Array]
    payload: float
    beside: Array
    gains: Array
    viscous: Array
    coulomb: Array
    zeros: Array
    step: float
    latency: int
    noise: tuple[float, float]


def with_friction(draw: Draw, scenario: Scenario) -> Scenario:
    """Return a scenario whose joints have an arm's friction."""
    viscous = draw.viscous * Setup.of(scenario).parameters.of_joints("viscous")
    friction = {f"viscous_{j}": x for j, x in zip(JOINTS, viscous.tolist(), strict=True)}
    friction |= {f"coulomb_{j}": x for j, x in zip(JOINTS, draw.coulomb.tolist(), strict=True)}
    data = scenario.data()
    return make_scenario({**data, "parameters": {**data["parameters"], **friction}})


def drawn_setup(draw: Draw, scenario: Scenario) -> Setup:
    """Return a setup of the Packbot with links, lengths and a payload that are off."""
    robot = copy.copy(find_robot("packbot"))
    as_known = robot.description

    def description(setup: Setup, base: str, more: Mapping[str, str]) -> tuple[str, str]:
        text, source = as_known(setup, base, more)
        return _changed(text, draw, setup.parameters.gripper_length), source

    robot.__dict__["description"] = description
    return Setup(robot, scenario)


def _changed(text: str, draw: Draw, reach: float) -> str:
    """Return a URDF with what is drawn; the finger tips are at `reach` [m] in the hand."""
    root = ET.fromstring(text)
    for name, change in draw.lengths.items():
        _shift(root, f"joint[@name='{name}']/origin", change)
    for name, more_mass in draw.masses.items():
        inertial = root.find(f"link[@name='{name}']/inertial")
        assert inertial is not None, name
        mass, inertia = inertial.find("mass"), inertial.find("inertia")
        assert mass is not None and inertia is not None
        before = float(mass.attrib["value"])
        ratio = 1.0 + more_mass / before
        mass.set("value", repr(ratio * before))
        for key, value in inertia.attrib.items():
            inertia.set(key, repr(ratio * float(value)))
        _shift(root, f"link[@name='{name}']/inertial/origin", draw.centres[name])
    if draw.payload:
        _load(root, reach, draw)
    return ET.tostring(root, encoding="unicode")


def _shift(root: ET.Element, where: str, change: Array) -> None:
    origin = root.find(where)
    assert origin is not None, where
    place = np.array([float(x) for x in origin.get("xyz", "0 0 0").split()])
    origin.set("xyz", " ".join(map(repr, (place + change).tolist())))


def _load(root: ET.Element, reach: float, draw: Draw) -> None:
    """Add the payload to the hand's inertia; its frame is not turned."""
    inertial = root.find("link[@name='gripper_link']/inertial")
    assert inertial is not None
    mass, origin, inertia = (inertial.find(key) for key in ("mass", "origin", "inertia"))
    assert mass is not None and origin is not None and inertia is not None
    place = np.array([float(x) for x in origin.attrib["xyz"].split()])
    xx, xy, xz, yy, yz, zz = (float(inertia.attrib[k]) for k in KEYS)
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    hand = pin.Inertia(float(mass.attrib["value"]), place, tensor)
    tip = np.array([reach, 0.0, 0.0]) + draw.beside
    both = hand + pin.Inertia(draw.payload, tip, np.zeros((3, 3)))
    mass.set("value", repr(float(both.mass)))
    origin.set("xyz", " ".join(map(repr, both.lever.tolist())))
    values = both.inertia[np.triu_indices(3)]
    for key, value in zip(KEYS, values.tolist(), strict=True):
        inertia.set(key, repr(value))


KEYS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
