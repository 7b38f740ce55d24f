"""The installed engines, found by the entry points of their packages.

An engine is an `EngineSpec` (spec.py) that a package announces in the entry point group GROUP, so
no list of engines is needed here. `spec` returns the engine of a name, `simulate_model` makes its
simulator of a model, and the functions `..._names` list the engines. Their order (default engines
first, then alphabetical) is that of tables and reports.

GROUP and REFERENCE stay: other packages and scenarios use them. An engine that cannot be loaded
must fail only when it is used itself (test_engine_spec: a broken package hides no other).
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

GROUP = "roboaccord.engines"  # of entry points
REFERENCE = "reference"  # name of our own simulator, which is no engine


@cache
def specs() -> Mapping[str, EngineSpec]:
    """Return the installed engines by name: default engines first, then alphabetically."""
    engines = [_load(entry) for entry in entry_points(group=GROUP)]
    engines.sort(key=lambda engine: (not engine.default, engine.name))
    return {engine.name: engine for engine in engines}


def name_of(engine: Engine) -> str:
    """Return the name of an engine."""
    return engine if isinstance(engine, str) else engine.name


def spec(engine: Engine) -> EngineSpec:
    """Return the engine of a name; a specification is returned as it is.

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
    return tuple(engine.name for engine in specs().values() if engine.simulates)


def names_for_models() -> tuple[str, ...]:
    """Return the names of the engines that simulate single models, not only whole setups."""
    return tuple(engine.name for engine in specs().values() if engine.simulator)


def default_names() -> tuple[str, ...]:
    """Return the names of the engines that take part if the user names none."""
    return tuple(engine.name for engine in specs().values() if engine.default)


def installed_names(tell: Callable[[str], None]) -> list[str]:
    """Return the names of the reference and of the default engines that can be used here.

    Args:
        tell: called with a line for each default engine that cannot be used.
    """
    availability = {name: spec(name).look() for name in default_names()}
    missing = {name: item for name, item in availability.items() if isinstance(item, Missing)}
    for item in missing.values():
        tell(f"left out: {item.reason}")
    return [REFERENCE, *(name for name in availability if name not in missing)]


def simulator_names() -> tuple[str, ...]:
    """Return the names of all simulators, the reference's first."""
    return REFERENCE, *engine_names()


def check_engine(name: str, accepted: Collection[str] = ()) -> None:
    """Refuse a name that is not among the accepted ones, by default those of all simulators.

    Raises:
        AccordError: with a hint at a similar name.
    """
    accepted = accepted or simulator_names()
    if not isinstance(name, str):
        kind = type(name).__name__
        raise AccordError(f"an engine is given by its name, such as 'dart', and not as a {kind}")
    if name not in accepted:
        engines_so_called = (e.name for e in specs().values() if name.lower() in e.also)
        meant = next(engines_so_called, name)
        raise AccordError(f"unknown engine {name}{did_you_mean(meant, accepted)}")


def preset(
    options: Mapping[str, Mapping[str, Any]], **values: object
) -> dict[str, Mapping[str, Any]]:
    """Return engine options with a robot's own defaults, for each engine that has such settings.

    Args:
        options: engine options of a scenario, which take precedence over the defaults.
        values: defaults by the name of the setting.
    """
    merged = dict(options)
    for name, engine in specs().items():
        if defaults := {key: value for key, value in values.items() if engine.has_setting(key)}:
            merged[name] = {**defaults, **options.get(name, {})}
    return merged


def _load(entry: EntryPoint) -> EngineSpec:
    """Return the engine of an entry point.

    If it cannot be loaded, a specification takes its place that raises the reason when it is used.
    """
    try:
        engine = entry.load()
        if isinstance(engine, EngineSpec) and engine.name == entry.name:
            return engine
        reason = f"entry point {GROUP}:{entry.name} gives no EngineSpec of that name"
    except Exception as error:  # noqa: BLE001 - whatever somebody's package raises
        words = (str(error).splitlines() or [""])[0]
        reason = f"engine {entry.name} cannot be loaded: {type(error).__name__}: {words}"

    def refuse() -> NoReturn:
        """Raise the reason why the engine cannot be loaded."""
        raise AccordError(reason)

    package = entry.module.partition(".")[0]
    return EngineSpec(name=entry.name, package=package, version=refuse, simulator=refuse)
