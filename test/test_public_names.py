"""Public names: listed, documented, importable, and all that examples, guide and template use."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path

import pytest
from roboaccord.cli.about import templates
from workspace import PACKAGES, ROOT, need_all_robots

GUIDE = (ROOT / "docs" / "new_robot.md").read_text(encoding="utf-8")
PUBLIC = [name for name in PACKAGES if not name.startswith("roboaccord_")]


def sources() -> dict[str, str]:
    """Return the Python texts that a newcomer reads, by name."""
    examples = {path.name: path.read_text() for path in sorted(ROOT.glob("examples/*.py"))}
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE, re.MULTILINE | re.DOTALL)
    guide = {f"guide {number}": block for number, block in enumerate(blocks, 1)}
    of_template = {
        path: text.replace("{{ name }}", "pendulum").replace("{{ title }}", "Pendulum")
        for path, text in templates()
        if path.endswith(".py")
    }
    return {**examples, **guide, **of_template}


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names_are_there_and_documented(package: str) -> None:
    """Every name in `__all__` can be imported, is listed by `dir` and stands in the guide."""
    module = importlib.import_module(package)
    assert module.__all__ and set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        assert getattr(module, name) is not None
        assert f"`{name}`" in GUIDE, f"{package}.{name} is missing in docs/new_robot.md"
    with pytest.raises(AttributeError, match=f"No {package} attribute nothing"):
        _ = module.nothing


@pytest.mark.parametrize("name", sources())
def test_newcomers_read_public_imports_alone(name: str) -> None:
    """From the packages of the workspace, only names in their `__all__`."""
    for node in ast.walk(ast.parse(sources()[name])):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        assert not {each for each in names if each.split(".")[0] in PACKAGES} - {"roboaccord"}
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in PACKAGES:
            public = importlib.import_module(str(node.module)).__all__
            assert {alias.name for alias in node.names} <= {*public}, node.module


def test_the_tables_name_nothing_else() -> None:
    """A name that is gone must not stay in the guide."""
    need_all_robots()
    tables = GUIDE.partition("## Names to import")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", tables.replace("`from", "").replace("import", "")))
    public = {name for package in PUBLIC for name in importlib.import_module(package).__all__}
    assert named <= public | {*PUBLIC}


def test_every_package_is_light_to_import() -> None:
    """Names are imported when asked for: the packages themselves import nothing of others."""
    for package in PUBLIC:
        path = Path(str(importlib.import_module(package).__file__))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = {n.module for n in tree.body if isinstance(n, ast.ImportFrom)}
        light = {"roboaccord.contract", "roboaccord.contract.shown", "roboaccord.numerics.lazy"}
        assert found <= {"__future__", "collections.abc", "pathlib", "types", "typing", *light}
