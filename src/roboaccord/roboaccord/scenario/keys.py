"""The keys of a scenario with type, unit, default and meaning, as `accord scenario` lists them.

A scenario is a mapping of keys, some of them sections with keys of their own, such as `controller`.
`keys_of` lists them all. Nothing is written down twice: names, types and units are read from the
models of scenario.py and from the parameters of controllers, friction laws and terrains, and the
meanings from their docstrings (`Args:`). To describe a key better, edit those. `_SPECIAL` has the
sections whose keys depend on the scenario. Values are written in YAML, so that `--set` reads each
back (test_scenario_keys).
"""

from __future__ import annotations

import inspect
import json
import math
import re
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import NoneType, SimpleNamespace, UnionType
from typing import Any, TypeVar

from pydantic import BaseModel

from roboaccord.contract.results import Json, unit_in
from roboaccord.description.base_kinds import Base
from roboaccord.description.parameters import parameter_file
from roboaccord.scenario.controllers import shipped_factory
from roboaccord.scenario.scenario import Allowance, Scenario, StatisticsSpec
from roboaccord.scenario.setup import Robot, Setup

T = TypeVar("T")
REQUIRED = "required"  # in place of a default
# An entry of `Args:`: "name, name: meaning", with indented lines below it.
_ENTRY = re.compile(r"^    (\w+(?:, \w+)*): (.*(?:\n {8}.*)*)", re.MULTILINE)
# Texts for types whose names in Python mean nothing to a user.
_TYPE_NAMES: Mapping[Any, str] = {
    Allowance: "{limit: float, reason: str, period: float}",
    StatisticsSpec: "{figure: str, seeds: int}",
    NoneType: "None",
    ...: "...",
}


@dataclass(frozen=True)
class Key:
    """One key of a scenario.

    Args:
        key: name, with dots into nested keys.
        kind: type of the value.
        unit: of the value; "" for none.
        default: in YAML; REQUIRED where there is none.
        value: of the scenario, in YAML.
        meaning: a phrase; "" for none.
    """

    key: str
    kind: str
    unit: str
    default: str
    value: str
    meaning: str


def keys_of(setup: Setup) -> list[Key]:
    """Return all keys of a scenario, with those of its parameters, controller, law and terrain."""
    data = setup.scenario.data()
    default = Scenario(robot=setup.robot.key).data()
    return [*_model_keys(Scenario, "", data, default, setup)]


def in_yaml(value: Json) -> str:
    """Return a value as one line of YAML, from which the same value is read."""
    if isinstance(value, float):
        # ".inf", "-.inf" and ".nan"; YAML 1.1 reads a number with an exponent only with a dot.
        if not math.isfinite(value):
            return f"{'-' if value < 0 else ''}.{repr(value)[-3:]}"
        text = repr(value)
        return text if "e" not in text or "." in text else text.replace("e", ".0e")
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(k)}: {in_yaml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(in_yaml, value)) + "]"
    return value if _is_plain(value) else json.dumps(value)


def _is_plain(value: Json) -> typing.TypeGuard[str]:
    """Return whether a value is a word that YAML reads as a string without quotation marks."""
    reserved = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
    is_identifier = isinstance(value, str) and re.fullmatch(r"[A-Za-z_]\w*", value) is not None
    return is_identifier and str(value).lower() not in reserved


def _model_keys(
    model: type[BaseModel],
    prefix: str,
    data: Mapping[str, Json],
    default: Mapping[str, Json],
    setup: Setup,
) -> Iterator[Key]:
    """Yield the keys of a pydantic model.

    Args:
        model: class of the section.
        prefix: name of the section with a dot, "" at the top.
        data: values of the section.
        default: default values of the section.
        setup: robot and scenario, for sections in `_SPECIAL`.
    """
    meanings = _meanings(model)
    for name, hint in typing.get_type_hints(model, include_extras=True).items():
        if name not in data:
            continue
        key, value = prefix + name, data[name]
        types = (hint, *typing.get_args(hint))
        models = [kind for kind in types if _is_model(kind) and kind is not Allowance]
        by_name = typing.get_origin(hint) is dict  # a section for each name, such as `bodies`
        if models and by_name and isinstance(value, dict) and value:
            for each, of_each in value.items():
                yield from _model_keys(models[0], f"{key}.{each}.", of_each, {}, setup)
        elif models and not by_name and isinstance(value, dict):
            section = default.get(name)
            defaults = section if isinstance(section, dict) else {}
            yield from _model_keys(models[0], f"{key}.", value, defaults, setup)
        elif key in _SPECIAL:
            yield from _SPECIAL[key](setup)
        else:
            kind, unit, meaning = _type_text(hint), unit_in(hint), meanings.get(name, "")
            yield Key(key, kind, unit, in_yaml(default.get(name, value)), in_yaml(value), meaning)


def _is_model(kind: type) -> bool:
    """Return whether a type is a pydantic model, that is, a section with keys."""
    return inspect.isclass(kind) and issubclass(kind, BaseModel)


def _type_text(kind: Any) -> str:
    """Return a type as it is written in Python, without modules and annotations."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if arguments == typing.get_args(Base):
        return " | ".join(arguments)
    if kind in _TYPE_NAMES:
        return _TYPE_NAMES[kind]
    if origin is typing.Annotated:
        return _type_text(arguments[0])
    if origin in (typing.Union, UnionType):
        return " | ".join(map(_type_text, arguments))
    if origin is typing.Literal:
        return "str"
    name: str = (origin or kind).__name__
    return f"{name}[{', '.join(map(_type_text, arguments))}]" if arguments else name


def _meanings(factory: Callable[..., T]) -> dict[str, str]:
    """Return the meaning of each argument, from the docstring's section `Args:`."""
    section = (inspect.getdoc(factory) or "").partition("Args:\n")[2].partition("\n\n")[0]
    return {
        name: " ".join(words.split()).rstrip(".;")
        for names, words in _ENTRY.findall(section)
        for name in names.split(", ")
    }


def _factory_keys(
    prefix: str, factory: Callable[..., T], section: Mapping[str, Json]
) -> Iterator[Key]:
    """Yield the keys that are parameters of a factory, except `self` and `setup`.

    Args:
        prefix: name of the section.
        factory: class or function that is called with the keys.
        section: values in the scenario.
    """
    meanings = _meanings(factory)
    module_names = vars(sys.modules[factory.__module__])
    for name, parameter in inspect.signature(factory).parameters.items():
        if name in ("self", "setup"):
            continue
        kind = str(parameter.annotation)  # the annotation as text, from which its type is evaluated
        unit = ""
        with suppress(NameError):  # the name of a type that is imported only for type checkers
            annotated = SimpleNamespace(__annotations__={name: parameter.annotation})
            hint = typing.get_type_hints(annotated, module_names, include_extras=True)[name]
            unit = unit_in(hint)
            kind = kind if isinstance(parameter.annotation, str) and not unit else _type_text(hint)
        is_required = parameter.default is inspect.Parameter.empty
        default = REQUIRED if is_required else in_yaml(parameter.default)
        value = in_yaml(section[name]) if name in section else default
        yield Key(f"{prefix}.{name}", kind, unit, default, value, meanings.get(name, ""))


def _controller(setup: Setup) -> Iterator[Key]:
    """Yield the keys of the section `controller`."""
    section = setup.scenario.controller
    name = section.get("name", "none")
    choice = " | ".join(["none", *setup.robot.controllers])
    yield Key("controller.name", choice, "", "none", name, "of the controller")
    yield from _factory_keys("controller", shipped_factory(setup, name), section)
    if setup.robot.friction_laws:
        value = in_yaml(section.get("friction", {}))
        meaning = "that the controller assumes: `law` and its keys, or changes of the scenario's"
        yield Key("controller.friction", "dict[str, Any]", "", "{}", value, meaning)


def _friction(setup: Setup) -> Iterator[Key]:
    """Yield the keys of the section `friction`."""
    section = setup.scenario.friction
    laws = setup.robot.friction_laws
    law = section.get("law", "none")
    yield Key("friction.law", " | ".join(["none", *laws]), "", "none", law, "of friction")
    if law != "none":
        yield from _factory_keys("friction", laws[law], section)


def _terrain(setup: Setup) -> Iterator[Key]:
    """Yield the keys of the section `terrain`; none for a robot without terrain."""
    if type(setup.robot).terrain is not Robot.terrain:
        yield from _factory_keys("terrain", setup.robot.terrain, setup.scenario.terrain)


def _parameters(setup: Setup) -> Iterator[Key]:
    """Yield the keys of the section `parameters`."""
    hints = typing.get_type_hints(setup.robot.parameters)
    for name, entry in parameter_file(setup.robot.package).items():
        kind = "int" if hints.get(name) is int else "float"
        default = in_yaml(entry["value"])
        value = in_yaml(setup.scenario.parameters.get(name, entry["value"]))
        unit = str(entry.get("unit", ""))
        unit = "" if unit == "1" else unit
        yield Key(f"parameters.{name}", kind, unit, default, value, str(entry.get("source", "")))


# Sections whose keys depend on the scenario, and the function that yields the keys of each.
_SPECIAL: Mapping[str, Callable[[Setup], Iterator[Key]]] = {
    "controller": _controller,
    "friction": _friction,
    "terrain": _terrain,
    "parameters": _parameters,
}
