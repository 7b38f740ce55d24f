"""Engines of a cross-check: made from names or specifications, or left out with a reason.

run.py calls `make_engines` for the simulators of a check. An engine that refuses the scenario is
left out if the caller agrees. An engine may be asked for with expert settings, as "mujoco (expert)"
(contract/profiles.py); its plain engine is the same without them. It is left out if the plain
engine has the same settings in this scenario. `check_names` refuses tolerances and excuses of
engines and levels that do not exist; messages name the key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from roboaccord.contract import AccordError, Engine, check_known, did_you_mean
from roboaccord.contract.outcome import Code, Reason, because
from roboaccord.contract.profiles import without_profile
from roboaccord.engines import REFERENCE, EngineSpec, engine_names, name_of, read_settings, spec
from roboaccord.engines.base import engine_parts
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.scenario import CrosscheckSpec
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator


@dataclass(frozen=True)
class Engines:
    """Simulators of a check by name, and the specifications of their engines.

    Args:
        reference: simulator of the reference, the analytical model.
        others: simulators of the engines.
        specs: of the engines.
        same: engines left out, each with the name of the engine that has the same settings here.
        refusals: of engines left out, because they refuse the scenario.
    """

    reference: Simulator
    others: Mapping[str, Simulator]
    specs: Mapping[str, EngineSpec]
    same: Mapping[str, str] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Names of the simulators, the reference's first."""
        return [REFERENCE, *self.others]

    @property
    def remarks(self) -> list[Reason]:
        """Notes on the engines left out."""
        same, refusals = self.same.items(), self.refusals.items()
        return [
            *(because(Code.TEXT, engine=name, text=f"left out: {why}") for name, why in refusals),
            *(because(Code.SAME_SETTINGS, engine=name, other=other) for name, other in same),
        ]

    @property
    def changes(self) -> list[str]:
        """Deliberate differences of the engines from the installed ones, in words."""
        return [change for engine in self.specs.values() for change in engine.changes]

    def source(self, name: str) -> Engine:
        """Return the specification of a simulator's engine, or the name `reference`."""
        return self.specs.get(name, REFERENCE)

    def version(self, name: str) -> str:
        """Return a simulator's version, with deliberate differences from the installed engine."""
        if name == REFERENCE:
            return self.reference.version
        return " ".join([self.described[name], *self.specs[name].changes])

    @property
    def described(self) -> dict[str, str]:
        """Versions of the engines, with the expert settings imposed on them."""
        return {name: self.specs[name].describe(e.version) for name, e in self.others.items()}


def make_engines(
    setup: Setup,
    engines: Sequence[Engine],
    refused: Callable[[str, AccordError], None] | None = None,
) -> Engines:
    """Make the reference and the engines; arguments are those of `run_crosscheck`."""
    reference = make_simulator(setup, REFERENCE)
    others: dict[str, Simulator] = {}
    specs: dict[str, EngineSpec] = {}
    refusals: dict[str, str] = {}
    for name, engine in {name_of(e): e for e in engines if e != REFERENCE}.items():
        engine_spec = spec(engine)
        try:
            others[name], specs[name] = make_simulator(setup, engine_spec), engine_spec
        except AccordError as error:
            if refused is None or engine_spec.changes:
                raise
            refused(name, error)
            refusals[name] = str(error).removeprefix(f"{name}: ")
    # Engines with expert settings, by name, and the plain engine that is the same here.
    same = {name: s.plain for name, s in specs.items() if has_same_settings(others, specs, s)}
    for name in same:
        del others[name], specs[name]
    return Engines(reference, others, specs, same, refusals)


def on_ground_of(setup: Setup, engines: Sequence[Engine]) -> Setup:
    """Return a setup with an engine's own law of ground contact, if it has one.

    Raises:
        AccordError: if other engines are checked beside it, on which that law would be imposed.
    """
    others = [spec(engine) for engine in engines if engine != REFERENCE]
    for engine in others:
        grounded = engine.grounded(setup)
        if grounded is not setup and len(others) > 1:
            raise AccordError(f"{engine.name} has its own law of ground contact: check it alone")
        setup = grounded
    return setup


def has_same_settings(
    others: Mapping[str, Simulator], specs: Mapping[str, EngineSpec], expert: EngineSpec
) -> bool:
    """Return whether an engine with expert settings has the settings of its plain engine.

    Args:
        others, specs: simulators and specifications of the engines by name.
        expert: specification with expert settings.
    """
    plain = specs.get(expert.plain)
    if plain is None or plain.changes != expert.changes:
        return False

    def settings_of(engine: EngineSpec) -> list[object]:
        """Return the settings that each part of the engine's simulator is given."""
        parts = engine_parts(others[engine.name])
        return [read_settings(part.intended.options, plain.name, plain.settings) for part in parts]

    return settings_of(plain) == settings_of(expert)


def check_names(spec: CrosscheckSpec, levels: Sequence[str]) -> None:
    """Refuse tolerances and excuses of unknown engines or levels, and excuses without a reason.

    Raises:
        AccordError: naming the key.
    """
    named = {f"tolerances.trajectory.{engine}": engine for engine in spec.tolerances.trajectory}
    named |= {f"excuse.{level}.{e}": e for level, excuses in spec.excuse.items() for e in excuses}
    for key, engine in named.items():
        if without_profile(engine) not in engine_names():
            raise AccordError(f"unknown key crosscheck.{key}{did_you_mean(engine, engine_names())}")
    for key, by_level in (("excuse", spec.excuse), ("tolerances.level", spec.tolerances.level)):
        for level in by_level:
            check_known(f"unknown key crosscheck.{key}.", level, levels)
    for level, excuses in spec.excuse.items():
        for engine, reason in excuses.items():
            if not reason.strip():
                raise AccordError(f"crosscheck.excuse.{level}.{engine}: an excuse needs a reason")
