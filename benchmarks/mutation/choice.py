"""Which tests a mutant is given: those that run its line, or the nearest by imports."""

from __future__ import annotations

import ast
import json
import re
import time
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from roboaccord.cli.console import log
from roboaccord.contract.errors import AccordError
from roboaccord.run.versions import DATA_FOLDERS
from sites import Mutant
from trees import ROOT, Server

# s of CPU time of the tests that are tried on a mutant: 50 mutants are then an hour
# (CONTRIBUTING.md).
MOST = 60.0
# Nearest to a module that tests run in processes of their own, where nothing is seen; it bounds the
# time.
FILES = 3


class OutOfTimeError(Exception):
    """The time is over."""


class Maps:
    """Know which tests run a line or call a kernel, by running those of a place when first asked.

    What is found is kept in files. Where the code and data that a place's tests use have not
    changed, only its test modules that have are run again.

    Args:
        folder: of the files.
        until: when no further tests are begun, of the monotonic clock [s].
    """

    def __init__(self, folder: Path, until: float) -> None:
        self._folder, self._until = folder, until
        places = [str(p.relative_to(ROOT)) for p in (*ROOT.glob("src/*/test"), ROOT / "test")]
        kept = {place: self._kept(place) for place in places}
        self._found = {place: found for place, (found, stale) in kept.items() if not stale}
        self.places = sorted(places, key=lambda place: (place not in self._found, size(place)))
        self._locks = {place: Lock() for place in places}

    def get(self, place: str, server: Server) -> dict[str, Any]:
        """Return the map of a place; while another server makes it, make others."""
        for each in (place, *self.places):
            if place in self._found:
                break
            if each not in self._found and self._locks[each].acquire(blocking=False):
                try:
                    self._found[each] = self._found.get(each) or self._made(each, server)
                finally:
                    self._locks[each].release()
        with self._locks[place]:
            return self._found[place]

    def _file(self, place: str) -> Path:
        return self._folder / f"map_{place.replace('/', '_')}.json"

    def _kept(self, place: str) -> tuple[dict[str, Any], set[str]]:
        """Return the map of a place as its file has it, and the test modules to run for it."""
        modules = {str(p.relative_to(ROOT)) for p in (ROOT / place).glob("test_*.py")}
        if self._file(place).exists():
            found = json.loads(self._file(place).read_text())
            stale = {path for path, was in found["files"].items() if digest(ROOT / path) != was}
            if stale <= modules:
                return found, stale | (modules - found["files"].keys())
        return {"tests": {}, "lines": {}, "files": {}}, modules

    def _made(self, place: str, server: Server) -> dict[str, Any]:
        """Return the map of a place, brought up to date, and keep it."""
        found, stale = self._kept(place)
        gone = {name for name in found["tests"] if name.partition("::")[0] in stale}
        for name in gone:
            del found["tests"][name]
        for lines in found["lines"].values():
            for number, names in lines.items():
                lines[number] = [name for name in names if name not in gone]
        if stale:
            self._run(place, sorted(stale), server, found)
        part = self._file(place).with_suffix(".part")
        part.write_text(json.dumps(found))
        part.replace(self._file(place))
        return found

    def _run(self, place: str, modules: list[str], server: Server, found: dict[str, Any]) -> None:
        """Run test modules, and add to a map what they do."""
        if time.monotonic() > self._until:
            raise OutOfTimeError
        count = f"{len(modules)} test module{'s' if len(modules) > 1 else ''}"
        log.print(f"running {count} of {place} once, to see which lines each test runs")
        made = server.folder / "tmp" / "map.json"
        words = ["-p", "coverage_map", "-m", "not slow", *modules]
        answer = server.run(words, 7200.0, ACCORD_COVERAGE_MAP=str(made))
        if not made.exists():
            raise AccordError(f"the tests do not run: {answer['tail'].strip()[-300:]}")
        some = json.loads(made.read_text())
        made.unlink()
        found["tests"] |= some["tests"]
        for path, lines in some["lines"].items():
            here = found["lines"].setdefault(path, {})
            for number, names in lines.items():
                here.setdefault(number, []).extend(names)
        packages = {path.split("/")[1] for path in found["lines"] if path.startswith("src/")}
        folders = [f"src/{n}/{kind}" for n in packages for kind in DATA_FOLDERS]
        data = (p for folder in folders for p in ROOT.glob(f"{folder}/**/*"))
        files = {*modules, *found["lines"], *(str(p.relative_to(ROOT)) for p in data)}
        found["files"] |= {path: digest(server.folder / path) for path in files}


def size(place: str) -> int:
    """Return the length of the tests of a place, by which the quicker ones are guessed."""
    return sum(path.stat().st_size for path in (ROOT / place).glob("*.py"))


def digest(file: Path) -> str:
    """Return a digest of a file; "" if there is none."""
    return sha256(file.read_bytes()).hexdigest()[:16] if file.is_file() else ""


class Tests:
    """Choose the tests for a mutant.

    Args:
        maps: of `Maps`.
    """

    def __init__(self, maps: Sequence[dict[str, Any]]) -> None:
        self._maps = maps
        self.time = {
            name: test["time"]
            for found in maps
            for name, test in found["tests"].items()
            if test["passed"]
        }

    def of(self, mutant: Mutant) -> list[str]:
        """Return the tests that run its line, then others of their files, the fastest first."""
        exact = set[str]()
        prefix = f"{mutant.file}:{mutant.function}" if mutant.kernel else f"{mutant.file}:"
        for found in self._maps:
            lines = found["lines"].get(mutant.file, {})
            # A module's own lines are run when it is imported, by whichever test was the first.
            numbers = range(mutant.line, mutant.last + 1) if mutant.function else lines
            exact.update(*(lines.get(str(number), ()) for number in numbers))
            if mutant.kernel or not mutant.function:
                for name, test in found["tests"].items():
                    if any(kernel.startswith(prefix) for kernel in test["kernels"]):
                        exact.add(name)
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
