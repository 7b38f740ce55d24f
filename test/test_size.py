"""The size of the workspace is held: lines of code against the table in CONTRIBUTING.md."""

from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from workspace import PACKAGES, ROOT

ORDERED = "the ordered workspace"
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LIMITS = {
    name.strip("`"): int(lines.replace(",", ""))
    for name, lines in re.findall(r"^\| ([^|]+?) \| ([\d,]+) \|$", PAGE, re.MULTILINE)
}
# A string, to its end, or a comment.
PIECE = re.compile(
    r"""\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\#[^\n]*""",
    re.DOTALL,
)


def filled(piece: re.Match[str]) -> str:
    """Return no comment, and for a string a letter on each of its lines."""
    return "" if piece[0].startswith("#") else "x" + "\nx" * piece[0].count("\n")


def code_lines(path: Path) -> int:
    """Return how many lines of a file hold code: neither blank, nor comment, nor docstring."""
    text = path.read_text(encoding="utf-8")
    lines = {n for n, line in enumerate(PIECE.sub(filled, text).split("\n"), 1) if line.strip()}
    waiting: list[ast.AST] = [ast.parse(text)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if first and ast.get_docstring(node, clean=False) is not None:
                lines -= {*range(first.lineno, (first.end_lineno or 0) + 1)}
        for part in ("body", "orelse", "handlers", "finalbody", "cases"):
            found = getattr(node, part, [])
            waiting += found if isinstance(found, list) else []
    return len(lines)


@cache
def sizes() -> Counter[str]:
    """Return the lines of code by row of the table, without tests; of tests in one row."""
    counts = Counter[str]()
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("test/**/*.py")]:
        parts = path.relative_to(ROOT).parts
        if {"build", ".venv"} & {*parts}:
            continue
        package = parts[1] if parts[0] == "src" else ""
        if "test" in parts:
            counts["tests"] += code_lines(path)
        else:
            counts[package if package in LIMITS else ORDERED] += code_lines(path)
    counts["all packages"] = sum(lines for name, lines in counts.items() if name != "tests")
    return counts


def test_the_table_has_every_package_beside_the_ordered_workspace() -> None:
    beside = {name for name in PACKAGES if name.startswith("roboaccord_")} - {"roboaccord_ros"}
    """One that is listed may be away."""
    assert {*LIMITS} >= {*beside, ORDERED, "all packages", "tests"}


@pytest.mark.parametrize("name", LIMITS)
def test_the_size_is_held(name: str) -> None:
    """A limit is raised by the growth that an issue allows, or with what went in return."""
    assert sizes()[name] <= LIMITS[name]


def test_lines_are_counted_as_the_table_states(tmp_path: Path) -> None:
    """A text of two lines in code counts twice, a docstring, a comment and a blank not at all."""
    text = '"""Say what it is,\nin two lines."""\n\n# A comment.\nX = """a\nb"""\n\n\n'
    text += 'def f() -> None:\n    """Do nothing."""\n'
    (tmp_path / "x.py").write_text(text)
    assert code_lines(tmp_path / "x.py") == 3
