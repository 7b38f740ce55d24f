"""Which tests a mutant is given: those that run its line, or the nearest by imports."""

from __future__ import annotations

import ast
import json
import re
import shutil
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from roboaccord.cli.console import log
from roboaccord.contract.errors import AccordError
from sites import Mutant
from trees import HERE, ROOT, Server

MOST = 60.0  # s of CPU time of the tests that are tried on a mutant
FILES = 3  # nearest to a module that tests run in processes of their own, where nothing is seen


def tree_digest() -> str:
    """Return a digest of all code and tests."""
    digest = sha256()
    for path in sorted([*ROOT.glob("src/**/*.py"), *ROOT.glob("test/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def coverage_map(server: Server, folder: Path, quick: bool) -> dict[str, Any]:
    """Return which tests run a line or call a kernel: from files, or by running them once."""
    found: dict[str, Any] = {"tests": {}, "lines": {}}
    for place in sorted(str(p.relative_to(ROOT)) for p in (*ROOT.glob("src/*/test"), HERE.parent)):
        name = f"{'quick' if quick else 'all'}_{place.replace('/', '_')}"
        file = folder / f"map_{tree_digest()}_{name}.json"
        if not file.exists():
            log.print(f"running the tests in {place} once, to see which lines each of them runs")
            made = server.folder / "tmp" / "map.json"
            marks = "not slow and not thorough" if quick else "not slow"
            words = ["-p", "coverage_map", "-m", marks, place]
            answer = server.run(words, 7200.0, ACCORD_COVERAGE_MAP=str(made))
            if not made.exists():
                raise AccordError(f"the tests do not run: {answer['tail'].strip()[-300:]}")
            shutil.copyfile(made, file)
            made.unlink()
        some = json.loads(file.read_text())
        found["tests"] |= some["tests"]
        for path, lines in some["lines"].items():
            here = found["lines"].setdefault(path, {})
            for number, names in lines.items():
                here.setdefault(number, []).extend(names)
    return found


class Tests:
    """Choose the tests for a mutant.

    Args:
        found: of `coverage_map`.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self._lines = found["lines"]
        self.time = {name: test["time"] for name, test in found["tests"].items() if test["passed"]}
        self._kernels: dict[str, set[str]] = {}
        for name, test in found["tests"].items():
            for kernel in test["kernels"]:
                self._kernels.setdefault(kernel, set()).add(name)

    def of(self, mutant: Mutant) -> list[str]:
        """Return the tests that run its line, then others of their files, the fastest first."""
        lines = self._lines.get(mutant.file, {})
        exact = set[str]()
        if mutant.function:
            for number in range(mutant.line, mutant.last + 1):
                exact.update(lines.get(str(number), ()))
        else:  # run when the module is imported, by whichever test was the first
            exact.update(*lines.values())
        prefix = f"{mutant.file}:{mutant.function}" if mutant.kernel else f"{mutant.file}:"
        if mutant.kernel or not mutant.function:
            for kernel, tests in self._kernels.items():
                if kernel.startswith(prefix):
                    exact |= tests
        files = {name.partition("::")[0] for name in exact}
        beside = {name for name in self.time if name.partition("::")[0] in files} - exact
        chosen, spent = list[str](), 0.0
        for name in [*self._sorted(exact), *self._sorted(beside)]:
            spent += self.time[name]
            if spent > MOST and chosen:
                break
            chosen.append(name)
        return chosen

    def _sorted(self, names: set[str]) -> list[str]:
        return sorted(names & self.time.keys(), key=lambda name: (self.time[name], name))


@cache
def imports(file: Path) -> frozenset[str]:
    """Return the modules that a file names in imports, dotted."""
    found = set[str]()
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(found)


@cache
def known_modules() -> dict[str, Path]:
    """Return the files of all modules of the workspace by dotted name."""
    found = {}
    for setup in ROOT.glob("src/*/setup.py"):
        top = setup.parent
        for path in (top / top.name).rglob("*.py"):
            name = ".".join(path.relative_to(top).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def distances(test: Path) -> dict[str, int]:
    """Return how many imports lead from a test file to each module."""
    known, found, ring = known_modules(), dict[str, int](), {test}
    for step in range(1, 6):
        names = {n for file in ring for n in imports(file) if n in known} - found.keys()
        found |= dict.fromkeys(names, step)
        ring = {known[name] for name in names}
    return found


def nearest(mutant: Mutant) -> list[str]:
    """Return the test files from which imports lead to a mutant, nearest first."""
    package = mutant.file.split("/")[1]
    module = ".".join(Path(mutant.file).with_suffix("").parts[2:]).removesuffix(".__init__")
    rows = []
    for test in [*ROOT.glob("src/*/test/test_*.py"), *ROOT.glob("test/test_*.py")]:
        path = str(test.relative_to(ROOT))
        far, own = distances(test).get(module, 9), path.startswith(f"src/{package}/")
        named = len({*test.stem.split("_")} & {*re.split(r"[._]", module)} - {package, "test"})
        if far < 9 or (own and named):
            rows.append((not own, far - 2 * named, path))
    return [path for *_, path in sorted(rows)[:FILES]]
