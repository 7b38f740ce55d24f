"""Libraries of which private parts are used have an upper bound."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from workspace import ROOT

CORE = ROOT / "src" / "roboaccord"
# What their documentation does not promise: by package, names of modules and attributes.
PRIVATE = {
    "numba": r"^numba\.(core|misc)\b",
    "rosbags": r"^rosbags\.rosbag2\.(enums|metadata|storage_mcap)\b",
    "xacro": r"^xacro\.substitution_args\._",
}


def used(path: Path) -> set[str]:
    """Return the modules and the names from them that a module imports or reaches into."""
    names = set[str]()
    homes = dict[str, str]()
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            homes |= {alias.asname or alias.name: str(node.module) for alias in node.names}
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            home = homes.get(node.value.id)
            names |= {f"{home}.{node.value.id}.{node.attr}"} if home else set()
    return names


@pytest.fixture(scope="module")
def names() -> set[str]:
    """Return what all modules of the core use."""
    return set[str]().union(*map(used, (CORE / "roboaccord").rglob("*.py")))


@pytest.mark.parametrize("package", PRIVATE)
def test_a_library_of_which_private_parts_are_used_has_an_upper_bound(
    package: str, names: set[str]
) -> None:
    """They change without notice: an update is tried here before anybody gets it."""
    assert any(re.match(PRIVATE[package], name) for name in names), "no longer: drop the bound"
    (asked,) = re.findall(
        rf"^    ({package}[<>=].*)$", (CORE / "setup.cfg").read_text("utf-8"), re.M
    )
    assert ",<" in asked
