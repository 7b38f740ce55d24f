"""Specification of a physics engine: `EngineSpec`, all that other packages know about an engine.

A specification has the engine's names, functions that import its simulator and its reader of robot
files, its settings, the features that it lacks, and its integration method (`Scheme`). The package
of each engine makes one, and installed.py finds them. Every command reads all specifications, so
they import no physics library until one of the functions is called.

Fields may be added to `EngineSpec`, with a default, so that engines of other packages stay valid. A
new limit of engines is a name in `Feature`, with a test for it in FEATURES. Existing names stay:
engines of others use them (docs/new_engine.md, whose code test_engine_spec runs).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeAlias, TypeVar

from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.profiles import EXPERT
from roboaccord.numerics.machine import safe_path

if TYPE_CHECKING:
    from pathlib import Path

    from roboaccord.contract import Array, FreeBody
    from roboaccord.description.tree_text import Converted
    from roboaccord.engines.base import EngineSimulator
    from roboaccord.engines.model import EngineModel
    from roboaccord.engines.reading import Reading
    from roboaccord.scenario.setup import Setup
    from roboaccord.simulators.base import Simulator

# Function that converts a robot in another format to a URDF. Its arguments are the text, its file
# or None, and folders of ROS packages by name.
Convert: TypeAlias = "Callable[[str, Path | None, Mapping[str, Path]], Converted]"
T = TypeVar("T")
SHARED_LIBRARY = re.compile(r"(lib[\w.+-]+?)\.so\.(\d+)")  # name and version, in an ImportError
# [rad or m] A joint limit of this size or more counts as no stop, because no run reaches it.
NO_STOP = 1e6

Precision = Literal["float64", "float32"]
# Relative distance from 1 to the next number, by precision.
ROUNDINGS: Mapping[Precision, float] = {"float64": 2.0**-52, "float32": 2.0**-23}

# Features of a model that an engine may lack: rotors; rotors of joints on which contacts or stops
# act; a ball in a bearing; contacts; softened stops; a mesh that is not convex.
Feature = Literal[
    "armature", "armature_impacts", "bearing", "contact", "soft_stops", "terrain_mesh"
]


def imported(name: str) -> Callable[[], Any]:
    """Return a function that imports and returns the object of `module:name` when called."""
    return EntryPoint("", name, "").load


@dataclass(frozen=True)
class Footing:
    """Contact of a level robot with the ground in an engine, for the model of it in grip.py.

    Args:
        radius: radius of the spheres at the links' centres, which touch the ground [m].
        carriages: masses that move with `base_link` along x, y and z of the world [kg].
    """

    radius: float
    carriages: tuple[float, float, float]


@dataclass(frozen=True)
class Scheme:
    """Integration method of an engine, where no contact and no stop acts.

    Args:
        kind: semi-implicit Euler, v' = v + h a(x, v) and then x' = x + h v'; or the classical
            Runge-Kutta method of order 4. Efforts are held, force laws act in every stage.
        implicit: in semi-implicit Euler, whether Coriolis and gyroscopic forces are those at the
            end of the step, computed from their derivative at its start.
        damping: in semi-implicit Euler, whether viscous damping of joints acts at the rates of the
            end of the step, instead of as an effort.
        linear, angular: axes in which the rates of a free base are stepped.
        turning: how the orientation of a free base is stepped: by the rotation vector since the
            start of the step; by the same, but turns of less than 1e-3 rad to second order only
            ("cut off"); or by the components of the quaternion.
        point: in the axes of a free base (3,) [m], whose linear velocity and position are stepped.
        footing: contact of a level robot whose friction sticks; the force law acts through it.
    """

    kind: Literal["semi-implicit Euler", "Runge-Kutta 4"]
    implicit: bool = False
    damping: bool = False
    linear: Literal["world", "own"] = "world"
    angular: Literal["world", "own"] = "world"
    turning: Literal["rotation vector", "cut off", "quaternion"] = "rotation vector"
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    footing: Footing | None = None


class Case(NamedTuple):
    """Data from which the twin of an engine is made: our equations under the engine's scheme.

    Attributes:
        setup: robot and scenario in the engine.
        engine: the specification, with a scheme if there is a twin.
        misread: largest errors of the joints' orientations when the engine reads them (n,) [rad].
        footing: contact of a level robot with the ground.
    """

    setup: Setup
    engine: EngineSpec
    misread: Array
    footing: Footing | None = None


@dataclass(frozen=True)
class Available:
    """An engine that can be used here, with its version."""

    version: str


@dataclass(frozen=True)
class Missing:
    """An engine that cannot be used here, with a line that states the reason."""

    reason: str


@dataclass(frozen=True)
class NoSettings:
    """Settings of an engine that has none."""


@dataclass(frozen=True, kw_only=True)
class EngineSpec:
    """Specify an engine; found by the entry points of group `roboaccord.engines`.

    Args:
        name: in commands, scenarios and results; that of the entry point.
        package: name of the package for pip.
        version: imports the library and returns its version.
        simulator: returns the class that simulates models; None if there is none.
        whole: returns a function that simulates a complete setup, ground included; for engines that
            simulate no single models.
        reader: returns the class that reads descriptions for `accord parity`, or None.
        formats: return functions that convert a format to a URDF, by the first element of files.
        settings: dataclass of the keys below `engine_options.NAME`, which checks their values.
        lacks: features of a model that the engine refuses, each with the reason.
        default: whether the engine takes part if the user names none.
        changes: deliberate differences from the installed engine, for results.
        scheme: returns the integration method for a model; None if it is not known.
        expert: the settings that its authors would choose, the same for all problems.
        plain: the engine's usual name, if this specification forces its expert settings; else "".
        also: other names that users may type, for hints.
        precision: of the engine's arithmetic, from which all bounds on its round-off follow.
        bodies: whether it simulates free bodies beside a robot.
    """

    name: str
    package: str
    version: Callable[[], str]
    simulator: Callable[[], type[EngineSimulator]] | None = None
    whole: Callable[[], Callable[[Setup], Simulator]] | None = None
    reader: Callable[[], type[Reading]] | None = None
    formats: Mapping[str, Callable[[], Convert]] = field(default_factory=dict)
    settings: type = NoSettings
    lacks: Mapping[Feature, str] = field(default_factory=dict)
    default: bool = False
    changes: tuple[str, ...] = ()
    scheme: Callable[[EngineModel], Scheme] | None = None
    expert: Mapping[str, object] = field(default_factory=dict)
    plain: str = ""
    also: tuple[str, ...] = ()
    precision: Precision = "float64"
    bodies: bool = False

    @classmethod
    def of(cls, engine: EngineSpec, **more: Any) -> Self:
        """Return a specification of this class with all fields of another, and more."""
        return cls(**{item.name: getattr(engine, item.name) for item in fields(EngineSpec)} | more)

    @property
    def rounding(self) -> float:
        """Relative distance from 1 to the next number in the engine's arithmetic."""
        return ROUNDINGS[self.precision]

    @property
    def simulates(self) -> bool:
        """Whether it simulates; else it only reads descriptions."""
        return bool(self.simulator or self.whole)

    def as_expert(self) -> EngineSpec:
        """Return the engine with its expert settings forced; itself if it has none."""
        if not self.expert or self.plain:
            return self
        return replace(self, name=f"{self.name}{EXPERT}", plain=self.name)

    def configured(self, model: EngineModel) -> EngineModel:
        """Return a model with the engine's expert settings, if they are forced."""
        if not self.plain:
            return model
        settings = {**model.options.get(self.plain, {}), **self.expert}
        return replace(model, options={**model.options, self.plain: settings})

    def describe(self, version: str) -> str:
        """Return a version, followed by the expert settings if they are forced."""
        forced = self.expert if self.plain else {}
        return " ".join([version, *(f"{key}={value}" for key, value in forced.items())])

    def has_setting(self, key: str) -> bool:
        """Return whether the engine has a setting `engine_options.NAME.KEY`."""
        return key in _keys(self.settings)

    def look(self) -> Available | Missing:
        """Return whether the engine can be used here."""
        try:
            return Available(self.load(self.version))
        except AccordError as error:
            return Missing(str(error))

    def load(self, function: Callable[[], T]) -> T:
        """Call a function of one of the fields, which may import the engine's library.

        Raises:
            AccordError: naming what to install, if the library cannot be imported.
        """
        try:
            with safe_path():
                return function()
        except ImportError as error:
            needs = f"{self.package}: pip install {self.package}"
            if library := SHARED_LIBRARY.match(str(error)):
                needs = f"{library[0]}: apt-get install {_debian_package(*library.groups())}"
            raise AccordError(f"engine {self.name} needs {needs}") from None

    def simulate(self, model: EngineModel) -> EngineSimulator:
        """Make the simulator of one model, in a state of zeros.

        Raises:
            AccordError: where the engine cannot be imported, or lacks what the model needs.
        """
        assert self.simulator
        self.check(model)
        simulator = self.load(self.simulator)(self.configured(model))
        simulator.rounding = self.rounding
        return simulator

    def make(self, setup: Setup) -> Simulator:
        """Make the simulator of a setup as a whole, in the state from which the scenario starts.

        Raises:
            AccordError: where the engine cannot be imported, or cannot run the setup.
        """
        assert self.whole
        return self.load(self.whole)(setup)

    def complete(self, simulator: Simulator) -> Simulator:
        """Return a robot's simulator, completed by the engine; by default unchanged."""
        return simulator

    def grounded(self, setup: Setup) -> Setup:
        """Return a setup with the engine's own law of ground contact; by default unchanged."""
        return setup

    def case(self, setup: Setup) -> Case:
        """Return the data for the engine's twin; by default the setup and the engine themselves.

        Raises:
            AccordError: with the reason, if this setup has no twin.
        """
        import numpy as np  # here, so that names of engines are listed without loading it

        return Case(setup, self, np.zeros(len(setup.joints)))

    def refuse(self, feature: Feature) -> None:
        """Refuse a feature that the engine lacks.

        Raises:
            AccordError: with the reason.
        """
        if feature in self.lacks:
            raise AccordError(f"{self.name}: {self.lacks[feature]}")

    def check(self, model: EngineModel) -> None:
        """Refuse a model with a feature that the engine lacks.

        Raises:
            AccordError: with the reason.
        """
        for feature, is_needed in FEATURES.items():
            if is_needed(model):
                self.refuse(feature)
        self.check_bodies(model.contact.bodies if model.contact else ())

    def check_bodies(self, bodies: Sequence[FreeBody]) -> None:
        """Refuse free bodies beside a robot if the engine simulates none.

        Raises:
            AccordError: naming the first.
        """
        if bodies and not self.bodies:
            reason = f"it simulates no free bodies, such as {bodies[0].name}"
            raise AccordError(f"{self.name}: {reason}; use dart or mujoco")


def _debian_package(name: str, version: str) -> str:
    """Return the package of a shared library by Debian's rule, as libglib2.0-0 of libglib-2.0.so.0.

    Source: Debian Policy Manual, 8.1.
    """
    package = re.sub(r"-(?=\d)", "", name.lower())
    return f"{package}-{version}" if package[-1].isdigit() else package + version


def _has_rotors(model: EngineModel) -> bool:
    """Return whether a joint of a model has a rotor."""
    return bool(model.rotors.any())


def _has_rotors_with_impacts(model: EngineModel) -> bool:
    """Return whether a model has rotors, and contacts or stops, too."""
    limits = (limit for joint in model.tree.moving for limit in (joint.lower, joint.upper))
    has_impacts = model.contact is not None or any(abs(limit) < NO_STOP for limit in limits)
    return has_impacts and _has_rotors(model)


# By feature: whether a model needs it. `terrain_mesh` is missing: terrains check it themselves.
FEATURES: Mapping[Feature, Callable[[EngineModel], bool]] = {
    "contact": lambda model: model.contact is not None,
    "bearing": lambda model: model.base == "ball",
    "armature": _has_rotors,
    "armature_impacts": _has_rotors_with_impacts,
    "soft_stops": lambda model: model.stop_softness != 1.0,
}


def read_settings(options: Mapping[str, Mapping[str, Any]], engine: str, settings: type[T]) -> T:
    """Return the settings of an engine from the options of all engines.

    Args:
        options: keys and values by engine, as `engine_options` of a scenario.
        engine: name.
        settings: dataclass of the engine's settings.

    Raises:
        AccordError: for a key of `engine_options.ENGINE` that the settings do not have.
    """
    values = options.get(engine, {})
    check_known(f"unknown key engine_options.{engine}.", values, _keys(settings))
    return settings(**values)


def _keys(settings: type) -> list[str]:
    """Return the names of the fields of a dataclass of settings."""
    return [item.name for item in fields(settings)]
