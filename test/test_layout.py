"""The floor plan: rooms import in one direction, and few modules stand at the top of a package."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from workspace import PACKAGES, ROOT

MOST = 18
FEW = 5
ORDERED = [name for name in PACKAGES if name == "roboaccord_ros" or "roboaccord_" not in name]
BASE = {"contract", "numerics", "description"}
TOP = {"cli", "door", "testing"}
FORBIDDEN = {
    "contract": {"cli", "report", ""},
    "crosscheck": {"gazebo", "report"},
    "run": {"report"},
    "testing": {"cli"},
}
GROUPS = {"roboaccord.engines", "roboaccord.robots"}  # of entry points, called as rooms are


@cache
def modules(package: str) -> dict[str, Path]:
    """Return the modules of a package by dotted name."""
    top = ROOT / "src" / package
    return {
        ".".join(path.relative_to(top).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (top / package).rglob("*.py")
    }


def definers(known: dict[str, Path]) -> dict[str, str]:
    """Return the module that defines each name which a package lists in its stub."""
    homes = {}
    for package, path in known.items():
        stub = path.with_suffix(".pyi")
        for node in ast.parse(stub.read_text("utf-8")).body if stub.is_file() else ():
            if isinstance(node, ast.ImportFrom) and node.level:
                for alias in node.names:
                    homes[f"{package}.{alias.name}"] = f"{package}.{node.module or alias.name}"
    return homes


def imports(path: Path, paths: dict[str, Path], homes: Mapping[str, str] = {}) -> Iterator[str]:
    """Yield the modules of its package that a module imports, in functions and for types too.

    Or names in a string, `package.module` or `package.module:name`, by which they are imported.
    What a package lists in its stub is of the module that defines it.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            names = [name] if "." in name and name in paths and name not in GROUPS else []
        for name_used in names:
            name = homes.get(name_used, name_used)
            while name and name not in paths:
                name = name.rpartition(".")[0]
            if name:
                yield name


def room(module: str) -> str:
    """Return the room of a module: the package below the top, or the module there."""
    return module.split(".")[1] if "." in module else ""


@cache
def graph(package: str) -> dict[str, set[str]]:
    """Return the modules that each module of a package imports."""
    known = modules(package)
    homes = definers(known)
    return {name: {*imports(path, known, homes)} for name, path in known.items()}


@cache
def arrows(package: str) -> dict[str, set[str]]:
    """Return the rooms that each room of a package imports; "" is the package itself."""
    found = defaultdict[str, set[str]](set)
    for name, used in graph(package).items():
        found[room(name)].update(map(room, used))
    return {name: used - {name} for name, used in found.items()}


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_and_no_room_imports_in_a_circle(package: str) -> None:
    """Both graphs have a topological order; `graphlib` names the circle where there is one."""
    TopologicalSorter({name: used - {name} for name, used in graph(package).items()}).prepare()
    TopologicalSorter(arrows(package)).prepare()


def test_no_arrow_leads_upwards() -> None:
    """A room does not know what is above it, nor the core and robots what is beside them."""
    for name, used in arrows("roboaccord").items():
        assert not used & FORBIDDEN.get(name, set()), name
    beside = {"roboaccord_bench", "roboaccord_files", "roboaccord_view", "roboaccord_studies"}
    for package in ORDERED:
        for name, path in modules(package).items():
            text = path.read_text("utf-8")
            assert not [each for each in beside if re.search(rf"\b{each}\b", text)], name


@pytest.mark.parametrize("name", sorted({*map(room, modules("roboaccord"))} - {*TOP, *BASE, ""}))
def test_a_room_stands_on_few_others(name: str) -> None:
    """At most five, counted at the module that defines a name, beside those that all stand on."""
    assert len(arrows("roboaccord")[name] - BASE) <= FEW


@pytest.mark.parametrize("package", PACKAGES)
def test_few_modules_or_rooms_stand_at_the_top(package: str) -> None:
    """`__init__.py` apart, at most 18: more are a corridor."""
    top = ROOT / "src" / package / package
    found = [p for p in top.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()]
    assert len([p for p in found if p.name != "__init__.py"]) <= MOST


@pytest.mark.slow
def test_only_commands_know_of_deliberate_errors() -> None:
    """No module outside `falsify` imports it or has such a parameter, but for commands."""
    falsify = "roboaccord.falsify"
    for package in PACKAGES:
        paths = modules("roboaccord") | modules(package)
        for name, path in modules(package).items():
            text = path.read_text(encoding="utf-8")
            if name.startswith(falsify) or not ("perturb" in text or "falsify" in text):
                continue
            tree = ast.parse(text)
            assert not [a for a in ast.walk(tree) if isinstance(a, ast.arg) and "perturb" in a.arg
                        and room(name) != "cli"], name  # fmt: skip
            if room(name) != "cli":
                assert not [used for used in imports(path, paths) if used.startswith(falsify)], name


@pytest.mark.parametrize("package", PACKAGES)
def test_a_class_name_stands_once_in_a_package(package: str) -> None:
    """A reader need not look at the imports to see which class is meant; studies are by robot."""
    homes = defaultdict(set)
    for name, path in modules(package).items():
        robot = room(name) if package == "roboaccord_studies" else ""
        for kind in re.findall(r"^class (\w+)", path.read_text("utf-8"), re.MULTILINE):
            homes[robot, kind].add(name)
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
