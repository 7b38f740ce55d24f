"""Make the controller of a scenario, or a user's own.

A controller answers each state of the robot with a command, such as the efforts of its joints. A
scenario names its controller; its class comes from the robot (`controllers`) or from another
package (entry points `roboaccord.controllers`); `none` is the only one that is made here. The other
keys beside `name` are arguments of the class, except `friction`, which the setup has.

A user's own `module:name` is imported from the current folder. For that, `_CurrentFolderFinder` is
added to Python's finders of modules; it must serve that module and its own imports alone, or a file
in the folder could hide a library's module.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Collection
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar, cast

import numpy as np

from roboaccord.contract import AccordError, Command, Controller, RobotState, Target, plugins
from roboaccord.contract.errors import check_known
from roboaccord.scenario.setup import Setup
from roboaccord.scenario.user_code import build, check_keys, line_of, meant_by, place_of
from roboaccord.scenario.watch import START_TIMEOUT, starting


class Passive:
    """The controller `none`, which gives zero efforts."""

    def __init__(self, setup: Setup) -> None:
        self._command = Command(np.zeros(len(setup.joints)))

    def reset(self, seed: int) -> None:
        """Do nothing: the controller has no state."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return zero efforts."""
        return self._command


def make_controller(
    setup: Setup, custom: str = "", *, timeout: float = START_TIMEOUT
) -> Controller:
    """Make the controller of a scenario, or a user's own.

    Args:
        setup: robot and scenario.
        custom: `package.module:Class`, which replaces the scenario's controller; the class is
            called with the setup, which has the friction of `controller.friction`, and with those
            keys of the scenario's `controller` that are its parameters.
        timeout: how long making it may take [s of wall time].

    Raises:
        AccordError: for an unknown controller or parameter, or one that cannot be made.
    """
    name, keys = _name_and_keys(setup)
    with starting("controller", timeout):
        factory = _import_factory(custom) if custom else shipped_factory(setup, name)
        if custom:
            accepted = inspect.signature(factory).parameters
            known = {*accepted, *inspect.signature(shipped_factory(setup, name)).parameters}
            check_known(f"controller {custom} has no key ", keys, known)
            keys = {key: value for key, value in keys.items() if key in accepted}
        controller = build(factory, setup.assumed, keys, "controller")
        if not isinstance(controller, Controller):
            methods = ("reset(seed)", "update(state, target)")
            missing = [m for m in methods if not hasattr(controller, m.partition("(")[0])]
            raise AccordError(f"{custom or name} has no {' and no '.join(missing)}")
    return controller


def _name_and_keys(setup: Setup) -> tuple[str, dict[str, Any]]:
    """Return the name of the scenario's controller, and the keys that its class is called with."""
    keys = dict(setup.scenario.controller)
    keys.pop("friction", None)  # it is in `Setup.assumed`
    return keys.pop("name", "none"), keys


def check_controller(setup: Setup, custom: str = "") -> None:
    """Check the name and the keys of a scenario's controller, without making it.

    Args:
        setup: robot and scenario.
        custom: `package.module:Class` in its place, which is only imported.

    Raises:
        AccordError: for an unknown controller or parameter, or a value that is not a number.
    """
    if custom:
        _import_factory(custom)
        return
    name, keys = _name_and_keys(setup)
    check_keys(shipped_factory(setup, name), keys, "controller")


def shipped_factory(setup: Setup, name: str) -> Callable[..., Any]:
    """Return the class of a named controller, from the robot or from a package that adds to it.

    Raises:
        AccordError: for an unknown name, or one whose package is not installed.
    """
    factories = {"none": Passive, **setup.robot.controllers}
    if name not in factories:
        factories[name] = part_of(setup.robot.package, name, "unknown controller ", factories)
    return factories[name]


def part_of(robot: str, name: str, what: str, others: Collection[str] = ()) -> Any:
    """Return a controller, planner or diagnosis that a package adds to a robot.

    Args:
        robot: package of the robot; `roboaccord` for robots that are files.
        name: of the controller, planner or diagnosis.
        what: begins the message for an unknown name, such as "unknown controller ".
        others: names that the robot itself has, for the hint.

    Raises:
        AccordError: for an unknown name; NotInstalledError if its package is not installed.
    """
    installed = plugins.added("controllers", robot)
    advice = plugins.lacking("controllers", f"{robot}.{name}", name)
    if name not in installed and advice:
        raise plugins.NotInstalledError(advice)
    check_known(what, name, [*others, *installed])
    return plugins.load("controllers", f"{robot}.{name}")


def _import_factory(path: str) -> Callable[..., Any]:
    """Import a user's `package.module:Class`."""
    module_name, colon, attribute = path.partition(":")
    if not colon:
        raise AccordError(f"--controller takes package.module:Class, not {path!r}")
    if _CurrentFolderFinder not in sys.meta_path:
        sys.meta_path.append(_CurrentFolderFinder)  # not to sys.path, which child processes inherit
    try:
        factory = getattr(importlib.import_module(module_name), attribute)
    except SystemExit as error:
        raise AccordError(f"cannot import {path}: it {line_of(error)}{place_of(error)}") from error
    except Exception as error:
        reason = (str(getattr(error, "msg", error)).splitlines() or [type(error).__name__])[0]
        hint = meant_by(error)
        raise AccordError(f"cannot import {path}: {reason}{place_of(error)}{hint}") from error
    if not callable(factory):
        raise AccordError(f"{path} is not a class")
    return cast("Callable[..., Any]", factory)


class _CurrentFolderFinder:
    """Finder of a user's modules in the current folder, if no other finder has the name.

    It serves this module, which imports the controller, and the modules that it has found before,
    and nobody else: a file in the folder must not be taken for a module of a library.
    """

    served: ClassVar = {__name__}  # names of the modules that may import through it

    @classmethod
    def find_spec(cls, name: str, path: object, _: object = None) -> ModuleSpec | None:
        """Return the specification of a module in the current folder, or None, as Python asks."""
        # Name of the module that imports: of the innermost caller outside of importlib.
        importer = "importlib"
        frame: FrameType | None = sys._getframe(1)
        while frame and importer.startswith("importlib"):
            importer = str(frame.f_globals.get("__name__"))
            frame = frame.f_back
        # `path` is that of the package of a submodule, which other finders know.
        if path is not None or not {importer, importer.partition(".")[0]} & cls.served:
            return None
        if spec := PathFinder.find_spec(name, [str(Path.cwd())]):
            cls.served.add(name)
        return spec
