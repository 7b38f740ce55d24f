"""Problems and engines by name: those of this package, and of others by entry points."""

import pkgutil
from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from roboaccord.contract import AccordError, check_known
from roboaccord.engines import specs

from roboaccord_bench import engines, problems
from roboaccord_bench.engine import Engine
from roboaccord_bench.problem import Problem


@cache
def named_entries(package: ModuleType, attribute: str) -> dict[str, Callable[[], Any]]:
    """Return functions that load the problems or engines of this package and of others, by name.

    Args:
        package: with a module for each.
        attribute: name of each in its module.
    """
    group = f"roboaccord.bench_{package.__name__.rpartition('.')[2]}"
    names = [found.name for found in pkgutil.iter_modules(package.__path__)]
    entries = [EntryPoint(name, f"{package.__name__}.{name}:{attribute}", group) for name in names]
    return {entry.name: entry.load for entry in [*sorted(entries), *entry_points(group=group)]}


def load_problem(name: str) -> Problem:
    """Return a problem by its name.

    Raises:
        AccordError: if there is none of this name.
    """
    known = named_entries(problems, "PROBLEM")
    check_known("unknown problem ", name, known)
    problem: Problem = known[name]()
    return problem


def load_engine(name: str) -> Engine:
    """Return an engine by its name.

    Raises:
        AccordError: if there is none of this name, or it is not installed.
    """
    known = named_entries(engines, "ENGINE")
    check_known("unknown engine ", name, known)
    try:
        engine: Engine = known[name]()
    except ImportError as error:
        spec = specs().get(name)  # of the engine for robots, which names the package
        cure = f"; run: pip install {spec.package}" if spec else ""
        raise AccordError(f"{name} is not installed: {error}{cure}") from None
    return engine
