"""Units of options: in their types, in the help, and behind the values that a command used."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import Signature
from typing import get_args

import pytest
from roboaccord.cli.groups import COMMANDS
from roboaccord.cli.parameters import options, parameters_of, units_of, with_unit
from roboaccord.cli.result import option_texts
from roboaccord.contract.plugins import added
from roboaccord.contract.results import Quantity, plain_type
from roboaccord.contract.results import unit_in as unit_of
from roboaccord.scenario.installed import robot_names
from roboaccord.scenario.setup import find_robot

UNIT = re.compile(r"\bin (rad/s|rad|s|Hz|N m|m/s|mm|m|kg/m\^3|kg|min|voxels|seconds|degrees|deg)\b")


def places() -> dict[str, str]:
    """Return the places of the functions of all commands by name."""
    places = dict(COMMANDS)
    for robot in robot_names():
        others = {n: e.value for n, e in added("commands", robot).items() if "." not in n}
        cli = {**find_robot(robot).cli, **others}
        places |= {f"{robot} {name}": place for name, place in cli.items()}
    return places


def signature_of(place: str) -> Signature:
    module, _, function = place.partition(":")
    return Signature([*parameters_of(getattr(import_module(module), function)).values()])


def carries(kind: object) -> list[Quantity]:
    """Return the quantities in a type."""
    if isinstance(kind, Quantity):
        return [kind]
    return [found for part in get_args(kind) for found in carries(part)]


def holds_float(kind: object) -> bool:
    return kind is float or any(map(holds_float, get_args(kind)))


@pytest.mark.parametrize(("name", "place"), places().items())
def test_every_option_that_is_a_number_carries_its_unit(name: str, place: str) -> None:
    """1 is for a ratio; a unit that depends on another option is named so. Counts are int."""
    signature = signature_of(place)
    for option, info in options(signature).items():
        kind = signature.parameters[option].annotation
        if holds_float(plain_type(kind)):
            (found,) = carries(kind)
            assert found.unit or found.meaning, f"{name}: {option} has no unit"
        assert not UNIT.search(info.help or ""), f"{name}: {option} names its unit in its help"


def test_a_unit_stands_in_the_help_and_behind_what_was_used() -> None:
    """Also m and degrees: --margin and --view-deg of a look at the Packbot."""
    pytest.importorskip("packbot", reason="the Packbot is not installed")
    signature = signature_of(places()["packbot look"])
    units = units_of(signature)
    assert option_texts({"margin": 0.5, "view_deg": 60.0, "knots": 3, "angle": 1.0}, units) == [
        "margin 0.5 m", "view_deg 60", "knots 3", "angle 1 rad",
    ]  # fmt: skip
    assert option_texts({"duration": 2.0, "physics_step": 1e-3}, units) == [
        "duration 2 s", "physics_step 0.001 s",
    ]  # fmt: skip
    helps = {name: with_unit(each) for name, each in signature.parameters.items()}
    texts = {name: info.help for name, info in options(Signature([*helps.values()])).items()}
    assert texts["margin"] == "Clearance to keep, in m."
    view = "Angle of the camera's field of view, in degrees. Default: all that is ahead of it."
    assert texts["view"] == view
    assert unit_of(plain_type(signature.parameters["margin"].annotation)) == ""
