"""The floor plan: rooms import in one direction, and few modules stand at the top of a package."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from workspace import PACKAGES, ROOT

MOST = 18
GROUPS = {"roboaccord.engines", "roboaccord.robots"}  # of entry points, called as rooms are


def modules(package: str) -> dict[str, Path]:
    """Return the modules of a package by dotted name."""
    top = ROOT / "src" / package
    return {
        ".".join(path.relative_to(top).with_suffix("").parts).removesuffix(".__init__"): path
        for path in (top / package).rglob("*.py")
    }


def imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Yield the modules of its package that a module imports, in functions and for types too.

    Or names in a string, `package.module` or `package.module:name`, by which they are imported.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            name = node.value.partition(":")[0]
            names = [name] if "." in name and name in known and name not in GROUPS else []
        for name in names:
            while name and name not in known:
                name = name.rpartition(".")[0]
            if name:
                yield name


def room(module: str) -> str:
    """Return the room of a module: the package below the top, or the module there."""
    return module.split(".")[1] if "." in module else ""


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_and_no_room_imports_in_a_circle(package: str) -> None:
    """Both graphs have a topological order; `graphlib` names the circle where there is one."""
    known = modules(package)
    graph = {name: set(imports(path, known)) - {name} for name, path in known.items()}
    graph.pop(package)  # the public names, which lead everywhere
    TopologicalSorter(graph).prepare()
    rooms: dict[str, set[str]] = {}
    for module, used in graph.items():
        rooms.setdefault(room(module), set()).update(map(room, used - {package}))
    TopologicalSorter({name: used - {name} for name, used in rooms.items()}).prepare()


@pytest.mark.parametrize("package", PACKAGES)
def test_few_modules_or_rooms_stand_at_the_top(package: str) -> None:
    """`__init__.py` apart, at most 18: more are a corridor."""
    top = ROOT / "src" / package / package
    found = [p for p in top.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()]
    assert len([p for p in found if p.name != "__init__.py"]) <= MOST


@pytest.mark.slow
def test_only_commands_know_of_deliberate_errors() -> None:
    """No module outside `falsify` imports it or has such a parameter, but for commands."""
    own = "roboaccord.falsify"
    for package in PACKAGES:
        known = modules("roboaccord") | modules(package)
        for name, path in modules(package).items():
            if name.startswith(own):
                continue
            tree = ast.parse(path.read_text(encoding="utf-8"))
            assert not [a for a in ast.walk(tree) if isinstance(a, ast.arg) and "perturb" in a.arg
                        and room(name) != "cli"], name  # fmt: skip
            if room(name) != "cli":
                assert not [used for used in imports(path, known) if used.startswith(own)], name


@pytest.mark.parametrize("package", PACKAGES)
def test_a_class_name_stands_once_in_a_package(package: str) -> None:
    """A reader need not look at the imports to see which class is meant."""
    found = defaultdict(set)
    for name, path in modules(package).items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                found[node.name].add(name)
    assert found
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
