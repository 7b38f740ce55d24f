"""The size of the workspace is held: lines of code against the table in CONTRIBUTING.md."""

from __future__ import annotations

import ast
import re
import tokenize
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
SILENT = {
    tokenize.COMMENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER, tokenize.INDENT,
    tokenize.NEWLINE, tokenize.NL,
}  # fmt: skip


def code_lines(path: Path) -> int:
    """Return how many lines of a file hold code: neither blank, nor comment, nor docstring."""
    lines = set[int]()
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type not in SILENT:
                lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if first and ast.get_docstring(node, clean=False) is not None:
                lines -= {*range(first.lineno, (first.end_lineno or 0) + 1)}
    return len(lines)


@cache
def sizes() -> Counter[str]:
    """Return the lines of code by row of the table, without tests; of tests in one row."""
    found = Counter[str]()
    for path in [*ROOT.glob("src/**/*.py"), *ROOT.glob("test/**/*.py")]:
        parts = path.relative_to(ROOT).parts
        if {"build", ".venv"} & {*parts}:
            continue
        package = parts[1] if parts[0] == "src" else ""
        if "test" in parts:
            found["tests"] += code_lines(path)
        else:
            found[package if package in LIMITS else ORDERED] += code_lines(path)
    found["all packages"] = sum(lines for name, lines in found.items() if name != "tests")
    return found


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
