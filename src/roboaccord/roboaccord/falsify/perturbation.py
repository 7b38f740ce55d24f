"""Kinds of deliberate errors, and how users write them: ENGINE:KIND[:WHERE]=VALUE.

To add a kind, add an entry to KINDS (unit, bounds, and the value that changes nothing), and its
effect to URDF_ERRORS or MODEL_ERRORS of model_errors.py or to SIGNAL_ERRORS of wrapped.py. Users
type the names and the form above, so these stay. test_perturbations runs every kind at its neutral
value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType

from roboaccord.contract.errors import AccordError, did_you_mean

EVERYWHERE = "*"  # WHERE for an error of all links or joints


@dataclass(frozen=True)
class Kind:
    """Kind of a deliberate error (perturbation).

    Args:
        meaning: of the value, for `--help` and tables.
        unit: of the value.
        place: what WHERE names: `link`, `joint`, or "" for an error of the whole model.
        neutral: the value that changes nothing.
        least, most: bounds of the value.
        whole: whether the value must be a whole number.
    """

    meaning: str
    unit: str
    place: str
    neutral: float
    least: float = -math.inf
    most: float = math.inf
    whole: bool = False


# Smallest factor on a quantity that must not be 0: the inverse mass is then 1e6 times as large, and
# a matrix of such masses keeps ten digits.
POSITIVE = 1e-6

# By kind: meaning, unit, place and neutral value, then bounds. A delay has at most 1000 periods, 1
# s at 1 kHz.
KINDS = MappingProxyType(
    {
        "mass": Kind("factor on the mass, inertia kept", "1", "link", 1.0, least=POSITIVE),
        "inertia": Kind("factor on the central inertia", "1", "link", 1.0, least=POSITIVE),
        "centre": Kind("shift of the centre of mass along x, y and z each", "m", "link", 0.0),
        "length": Kind("shift of a joint away from its parent's origin", "m", "joint", 0.0),
        "axis": Kind("tilt of a joint's axis", "rad", "joint", 0.0),
        "axis_sign": Kind("sign of a joint's axis", "1", "joint", 1.0, -1.0, 1.0, whole=True),
        "gravity": Kind("factor on gravity", "1", "", 1.0),
        "friction_along": Kind("factor on friction along the body", "1", "", 1.0, least=0.0),
        "friction_across": Kind("factor on friction across the body", "1", "", 1.0, least=0.0),
        "link_friction": Kind("factor on the ground's friction", "1", "link", 1.0, least=0.0),
        "slip_speed": Kind("factor on the slip speed of friction", "1", "", 1.0, least=POSITIVE),
        "friction": Kind("factor on dry friction of a joint", "1", "joint", 1.0, least=0.0),
        "contact_friction": Kind("factor on friction of contacts", "1", "", 1.0, least=0.0),
        "damping": Kind("viscous damping added", "N m s/rad", "joint", 0.0, least=0.0),
        "gear": Kind("factor on the effort that acts", "1", "joint", 1.0),
        "limit": Kind("shift of both joint limits, outwards", "rad", "joint", 0.0),
        "effort_limit": Kind("factor on the effort limit", "1", "joint", 1.0, least=0.0),
        "armature": Kind("reflected inertia added", "kg m^2", "joint", 0.0, least=0.0),
        "stop": Kind("factor on the softness of joint stops", "1", "", 1.0, least=POSITIVE),
        "impact": Kind("restitution of impacts", "1", "", 0.0, least=0.0, most=1.0),
        "sensor": Kind("offset of a measured joint angle", "rad", "joint", 0.0),
        "delay": Kind("periods by which efforts act late", "1", "", 0.0, 0.0, 1e3, whole=True),
    }
)


@dataclass(frozen=True)
class Perturbation:
    """A deliberate error of an engine.

    Args:
        engine: name of the engine that has it.
        kind: one of KINDS.
        value: in the unit of the kind.
        where: name of a link or joint, `*` for all.
    """

    engine: str
    kind: str
    value: float
    where: str = EVERYWHERE

    def affected(self, names: Iterable[str]) -> list[str]:
        """Return those links or joints of `names` to which the perturbation applies.

        Raises:
            AccordError: if it applies to none of them.
        """
        all_names = [*names]
        affected = [name for name in all_names if self.where in (EVERYWHERE, name)]
        link_or_joint = KINDS[self.kind].place
        if not affected and self.where != EVERYWHERE:
            hint = did_you_mean(self.where, all_names)
            raise self.impossible(f"there is no {link_or_joint} {self.where}{hint}")
        if not affected:
            quantity = "a limit" if self.kind == "limit" else self.kind
            raise self.impossible(f"no {link_or_joint} has {quantity}")
        return affected

    def impossible(self, reason: str) -> AccordError:
        """Return the error that says why the perturbation does not apply to a model."""
        return AccordError(f"--perturb {self}: {reason}")

    def __str__(self) -> str:
        """Return the text that `parse_perturbation` reads back."""
        where = "" if self.where == EVERYWHERE else f":{self.where}"
        return f"{self.engine}:{self.kind}{where}={self.value:g}"


def parse_perturbation(text: str) -> Perturbation:
    """Read `ENGINE:KIND[:WHERE]=VALUE`.

    Raises:
        AccordError: for another form, an unknown kind, or a value that is not a number.
    """
    names, equals, number = text.rpartition("=")
    engine, kind, where = [*names.split(":", 2), "", ""][:3]
    if not equals or not engine or not kind:
        raise AccordError(f"--perturb takes ENGINE:KIND[:WHERE]=VALUE, not {text!r}")
    if kind not in KINDS:
        raise AccordError(f"--perturb {text}: unknown kind {kind}{did_you_mean(kind, KINDS)}")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise AccordError(f"--perturb {text}: {number!r} is not a number")
    limits = KINDS[kind]
    if not limits.least <= value <= limits.most or (limits.whole and value != round(value)):
        number = "whole number" if limits.whole else "number"
        bounds = f"from {limits.least:g} to {limits.most:g}"
        if math.isinf(limits.most):
            bounds = f"of {limits.least:g} at least"
        raise AccordError(f"--perturb {text}: {kind} takes a {number} {bounds}")
    if where and not limits.place:
        raise AccordError(f"--perturb {text}: {kind} has one place only; leave out {where}")
    return Perturbation(engine, kind, value, where or EVERYWHERE)
