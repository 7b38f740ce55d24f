"""The engines that are installed, by name: each an `EngineSpec` of group `roboaccord.engines`.

Engines may be added, by an entry point of their package; nothing here lists names. GROUP and
REFERENCE are fixed, other packages and scenarios have them. The order (default engines first, then
by the alphabet) is that of tables and reports. An engine that cannot be loaded must refuse only its
own use (test_engine_spec: a broken package hides no other).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, NoReturn

from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.engines.spec import EngineSpec, Missing

if TYPE_CHECKING:
    from roboaccord.contract.interfaces import Engine
    from roboaccord.engines.base import EngineSimulator
    from roboaccord.engines.model import EngineModel

GROUP = "roboaccord.engines"
REFERENCE = "reference"


@cache
def specs() -> Mapping[str, EngineSpec]:
    """Return what is installed, by name: what takes part by default first, then by the alphabet."""
    found = [_load(entry) for entry in entry_points(group=GROUP)]
    found.sort(key=lambda each: (not each.default, each.name))
    return {each.name: each for each in found}


def name_of(engine: Engine) -> str:
    """Return the name of an engine."""
    return engine if isinstance(engine, str) else engine.name


def spec(engine: Engine) -> EngineSpec:
    """Return the engine of a name, or the specification that is given.

    Raises:
        AccordError: for an unknown name, with a hint.
    """
    if isinstance(engine, EngineSpec):
        return engine
    name = name_of(engine)
    check_engine(name, engine_names())
    return specs()[name]


def simulate_model(model: EngineModel, engine: Engine) -> EngineSimulator:
    """Make an engine's simulator of one model, in a state of zeros.

    Raises:
        AccordError: for an engine that cannot be imported here, or refuses the model.
    """
    return spec(engine).simulate(model)


def engine_names() -> tuple[str, ...]:
    """Return the names of the engines that simulate."""
    return tuple(each.name for each in specs().values() if each.simulates)


def names_for_models() -> tuple[str, ...]:
    """Return the names of the engines that simulate any model, and not a setup as a whole."""
    return tuple(each.name for each in specs().values() if each.simulator)


def default_names() -> tuple[str, ...]:
    """Return the names of the engines that take part where none are named."""
    return tuple(each.name for each in specs().values() if each.default)


def installed_names(tell: Callable[[str], None]) -> list[str]:
    """Return the reference and the default engines that are installed; report each other one."""
    looks = {name: spec(name).look() for name in default_names()}
    for look in looks.values():
        if isinstance(look, Missing):
            tell(f"left out: {look.reason}")
    return [REFERENCE, *(n for n, look in looks.items() if not isinstance(look, Missing))]


def simulator_names() -> tuple[str, ...]:
    """Return the names of all simulators, the reference's first."""
    return REFERENCE, *engine_names()


def check_engine(name: str, known: Collection[str] = ()) -> None:
    """Refuse what is not among the known names, by default those of all simulators.

    Raises:
        AccordError: with a hint.
    """
    known = known or simulator_names()
    if name not in known:
        meant = next((each.name for each in specs().values() if name.lower() in each.also), name)
        raise AccordError(f"unknown engine {name}{did_you_mean(meant, known)}")


def preset(
    options: Mapping[str, Mapping[str, Any]], **values: object
) -> dict[str, Mapping[str, Any]]:
    """Return engine options in which each engine that has a setting gets a robot's own default.

    Args:
        options: of a scenario, which come first.
        values: by the name of the setting.
    """
    found = dict(options)
    for name, each in specs().items():
        if own := {key: value for key, value in values.items() if each.has_setting(key)}:
            found[name] = {**own, **options.get(name, {})}
    return found


def _load(entry: EntryPoint) -> EngineSpec:
    """Return the engine of an entry point; one that cannot be loaded refuses to be used."""
    try:
        found = entry.load()
        if isinstance(found, EngineSpec) and found.name == entry.name:
            return found
        reason = f"entry point {GROUP}:{entry.name} gives no EngineSpec of that name"
    except Exception as error:  # noqa: BLE001 - whatever somebody's package raises
        words = (str(error).splitlines() or [""])[0]
        reason = f"engine {entry.name} cannot be loaded: {type(error).__name__}: {words}"

    def refuse() -> NoReturn:
        raise AccordError(reason)

    package = entry.module.partition(".")[0]
    return EngineSpec(name=entry.name, package=package, version=refuse, simulator=refuse)
