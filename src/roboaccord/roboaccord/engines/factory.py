"""Factory of engines' simulators, for any robot with a URDF."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from importlib.metadata import version
from typing import TYPE_CHECKING

from roboaccord.contract.contact import Contact
from roboaccord.contract.errors import AccordError
from roboaccord.engines import ENGINES, check_engine
from roboaccord.engines.model import EngineModel
from roboaccord.engines.perturbed import perturb_model
from roboaccord.engines.perturbed_signals import perturb_signals
from roboaccord.scenario.perturbation import Perturbations
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator, check_simulator

if TYPE_CHECKING:
    from roboaccord.engines.base import EngineSimulator

NO_CONTACT = {
    "drake": "no contact: its distances between convex hulls are wrong in places, and balls fall "
    "through its meshes; use dart or mujoco"
}
"""By engine that takes no contact, why."""
PACKAGES = {"pydrake": "drake"}
"""By module: the package to install, where it has another name."""


def make_engine(setup: Setup, engine: str, perturbations: Perturbations = ()) -> Simulator:
    """Make the simulator of a setup in an engine, or what the robot makes of it there.

    Args:
        setup: robot and scenario.
        engine: one of ENGINES.
        perturbations: deliberate errors of that engine.

    Raises:
        AccordError: for an unknown engine, one that cannot be imported here, or a perturbation that
            it does not take.
    """
    check_engine(engine)
    refuse_contact(engine, setup.contact)
    made = setup.robot.engine(setup, engine, perturbations)
    if made is None:
        made = simulate_model(EngineModel.of(setup, perturbations), engine)
    simulator = perturb_signals(check_simulator(made, setup.robot.name), perturbations)
    simulator.reset(setup.initial)
    return simulator


def simulate_model(model: EngineModel, engine: str) -> EngineSimulator:
    """Make an engine's simulator of one model, in a state of zeros.

    Raises:
        AccordError: for an engine that cannot be imported here, or refuses the model.
    """
    kind, library = ENGINES[engine]
    refuse_contact(engine, model.contact)
    try:
        module = importlib.import_module(f"roboaccord.engines.{engine}.simulator")
    except ImportError as error:
        raise AccordError(unavailable(engine, library, error)) from None
    simulator: EngineSimulator = getattr(module, kind)(perturb_model(model))
    simulator.intended = model
    return simulator


def refuse_contact(engine: str, contact: Contact | None) -> None:
    """Refuse contact where an engine takes none.

    Raises:
        AccordError: with the reason.
    """
    if contact is not None and engine in NO_CONTACT:
        raise AccordError(f"{engine}: {NO_CONTACT[engine]}")


def unavailable(engine: str, library: str, error: ImportError) -> str:
    """Return one line that says what to install for an engine."""
    if "libGL" in str(error):
        return f"engine {engine} needs libGL.so.1: apt-get install libgl1"
    package = PACKAGES.get(library, library)
    return f"engine {engine} needs {package}: pip install {package}"


def available(engines: Iterable[str] = ENGINES) -> dict[str, str]:
    """Return for each engine its version, or the line that says why it cannot be had."""
    found = {}
    for engine in engines:
        library = ENGINES[engine][1]
        try:
            module = importlib.import_module(library)
            package = PACKAGES.get(library)
            found[engine] = version(package) if package else str(module.__version__)
        except ImportError as error:
            found[engine] = unavailable(engine, library, error)
    return found
