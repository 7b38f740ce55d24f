"""Deliberate errors in a description's text: properties of links and joints."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Sequence

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import axis_angle_matrix
from roboaccord.scenario.perturbation import Perturbation

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def perturb_text(urdf: str, joints: Sequence[str], item: Perturbation) -> str:
    """Return a URDF with one error, of a kind in INERTIAL or JOINT.

    Args:
        urdf: the description.
        joints: names of those that a joint's error can be of.
        item: the error.

    Raises:
        AccordError: if there is no such link or joint.
    """
    root = ET.fromstring(urdf)
    if item.kind in INERTIAL:
        INERTIAL[item.kind](root, item)
    else:
        JOINT[item.kind](root, item, joints)
    return ET.tostring(root, encoding="unicode")


def _inertials(root: ET.Element, item: Perturbation) -> list[ET.Element]:
    found = {
        link.get("name", ""): inertial
        for link in root.iter("link")
        if (inertial := link.find("inertial")) is not None
    }
    return [found[name] for name in item.pick(found)]


def _joints(root: ET.Element, item: Perturbation, joints: Sequence[str]) -> list[ET.Element]:
    found = {j.get("name", ""): j for j in root.findall("joint") if j.get("name") in joints}
    return [found[name] for name in item.pick(found)]


def _scale(element: ET.Element, keys: Sequence[str], factor: float) -> None:
    for key in keys:
        element.set(key, repr(float(element.get(key, "0")) * factor))


def _mass(root: ET.Element, item: Perturbation) -> None:
    for inertial in _inertials(root, item):
        _scale(inertial.find("mass"), ("value",), item.value)  # type: ignore[arg-type]


def _inertia(root: ET.Element, item: Perturbation) -> None:
    for inertial in _inertials(root, item):
        _scale(inertial.find("inertia"), MOMENTS, item.value)  # type: ignore[arg-type]


def _origin(element: ET.Element) -> tuple[ET.Element, Array]:
    origin = element.find("origin")
    if origin is None:
        origin = ET.SubElement(element, "origin")
    return origin, np.array([float(x) for x in origin.get("xyz", "0 0 0").split()])


def _put(element: ET.Element, key: str, values: Array) -> None:
    element.set(key, " ".join(repr(float(value)) for value in values))


def _centre(root: ET.Element, item: Perturbation) -> None:
    for inertial in _inertials(root, item):
        origin, place = _origin(inertial)
        _put(origin, "xyz", place + item.value)


def _length(root: ET.Element, item: Perturbation, joints: Sequence[str]) -> None:
    for joint in _joints(root, item, joints):
        origin, place = _origin(joint)
        norm = float(np.linalg.norm(place))
        along = place / norm if norm else np.array([1.0, 0.0, 0.0])
        _put(origin, "xyz", place + item.value * along)


def _tilt(axis: Array, angle: float) -> Array:
    """Return an axis turned by an angle [rad] about a direction across it."""
    unit = axis / np.linalg.norm(axis)
    across = np.cross(unit, np.eye(3)[int(np.argmin(np.abs(unit)))])
    return np.asarray(axis_angle_matrix(across / np.linalg.norm(across), np.array(angle)) @ unit)


def _change_axis(change: Callable[[Array, float], Array]) -> Callable[..., None]:
    def act(root: ET.Element, item: Perturbation, joints: Sequence[str]) -> None:
        for joint in _joints(root, item, joints):
            axis = joint.find("axis")
            if axis is None:
                axis = ET.SubElement(joint, "axis", xyz="1 0 0")
            old = np.array([float(x) for x in axis.get("xyz", "1 0 0").split()])
            _put(axis, "xyz", change(old, item.value))

    return act


def _limit(root: ET.Element, item: Perturbation, joints: Sequence[str]) -> None:
    found = {j.get("name", ""): j.find("limit") for j in root.findall("joint")}
    limited = {n: e for n, e in found.items() if e is not None and e.get("lower") is not None}
    for name in item.pick([n for n in limited if n in joints]):
        limit = limited[name]
        for key, sign in (("lower", -1.0), ("upper", 1.0)):
            limit.set(key, repr(float(limit.get(key, "0")) + sign * item.value))


INERTIAL: dict[str, Callable[[ET.Element, Perturbation], None]] = {
    "mass": _mass,
    "inertia": _inertia,
    "centre": _centre,
}
JOINT: dict[str, Callable[[ET.Element, Perturbation, Sequence[str]], None]] = {
    "length": _length,
    "axis": _change_axis(_tilt),
    "axis_sign": _change_axis(lambda axis, sign: axis * sign),
    "limit": _limit,
}
