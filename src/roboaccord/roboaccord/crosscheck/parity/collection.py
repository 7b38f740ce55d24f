"""Parity of many robots: every file in every engine, side by side, and the files mended."""

from __future__ import annotations

import contextlib
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.crosscheck.parity.robot import (
    Bench,
    examine,
    load_shipped,
    not_loaded,
    repair,
)
from roboaccord.crosscheck.parity.traps import MIMIC, find_traps
from roboaccord.description.urdf_file import UrdfFile, read_urdf
from roboaccord.engines.reading import Base
from roboaccord.numerics.isolation import Crash
from roboaccord.run.output import make_folder, write_text
from roboaccord.run.pieces import run_isolated

TIMEOUT = 60.0  # s, of one robot in one engine
PATTERNS = ("*.urdf", "*.urdf.xacro")


@dataclass(frozen=True)
class Options:
    """Hold how readers are asked: settings, base (as the root asks for if None), and seed."""

    settings: str = "default"
    base: Base | None = None
    seed: int = 0


def find_files(
    folder: Path, packages: Mapping[str, Path], base: Base | None, refused: Callable[[str], None]
) -> list[UrdfFile]:
    """Return the robots in a folder that can be read.

    Args:
        folder: searched with all below it.
        packages: folders of ROS packages by name.
        base: as of `Options`.
        refused: called with the line that says why a file is left out.

    Raises:
        AccordError: if there is none.
    """
    found = []
    for path in sorted({path for pattern in PATTERNS for path in folder.rglob(pattern)}):
        try:
            file = read_urdf(path, packages)
            Bench(file, base).question  # noqa: B018 - refuses what is no tree
            found.append(file)
        except AccordError as error:
            refused(str(error))
    if not found:
        raise AccordError(f"no URDF of a robot in {folder}")
    return found


def examine_all(
    files: Sequence[UrdfFile],
    engines: Mapping[str, str],
    options: Options,
    done: Callable[[str], None] = lambda name: None,
) -> list[dict[str, Any]]:
    """Return what each engine makes of each file.

    Args:
        files: of the robots.
        engines: versions by name.
        options: how they are asked.
        done: called with the name of a robot, for each engine.

    Raises:
        AccordError: if a file's links and joints form no tree.
    """
    robots = [_about(file, options) for file in files]
    jobs = [
        (file, engine, options, shipped)
        for file in files
        for engine in engines
        for shipped in (False, True)
    ]
    _compile(files[0], options)
    found = dict[tuple[int, str, bool], Any]()
    for job, result in run_isolated(examine_one, jobs, timeout=TIMEOUT):
        _, engine, _, shipped = jobs[job]
        i = job // (2 * len(engines))
        if isinstance(result, Crash):
            result = (
                not_loaded(result.reason, late=result.late)
                if shipped
                else _crashed(result, engines[engine], options)
            )
        found[i, engine, shipped] = result
        done(robots[i]["name"])
    for i, robot in enumerate(robots):
        for name in engines:
            robot["engines"][name] = found[i, name, False]
            shipped = robot["engines"][name]["shipped"] = found[i, name, True]
            if geometry := shipped.pop("geometry"):
                robot["engines"][name]["apart"]["geometry"] = geometry
    return robots


def examine_one(file: UrdfFile, engine: str, options: Options, shipped: bool) -> Any:
    """Return what one engine makes of a file, stripped or as shipped; for another process."""
    ask = load_shipped if shipped else examine
    try:
        return ask(Bench(file, options.base, options.seed), engine, options.settings)
    except AccordError as error:
        return Crash(str(error))
    except subprocess.TimeoutExpired as error:
        return Crash(f"no answer of {engine} in {error.timeout:g} s", late=True)


def _compile(file: UrdfFile, options: Options) -> None:
    """Compile the reference's kernels here, once, and not in every process and its time limit."""
    bench = Bench(file, options.base, options.seed)
    with contextlib.suppress(AccordError):
        bench.reference(bench.text, False).allowed(bench.question.states[0])


def _about(file: UrdfFile, options: Options) -> dict[str, Any]:
    bench = Bench(file, options.base, options.seed)
    tree = bench.tree
    return {
        "name": file.name,
        "file": str(file.path),
        "base": bench.question.base,
        "joints": len(tree.moving),
        "mass": sum(link.mass for link in tree.links),
        "traps": [
            {"cause": trap.cause, "where": list(trap.where), "fix": trap.fix}
            for trap in find_traps(file.stripped())
        ],
        "engines": {},
    }


def _crashed(crash: Crash, version: str, options: Options) -> dict[str, Any]:
    what, status = ("no answer", "undecided") if crash.late else ("crash", "refused")
    cause = {"cause": what, "where": "", "before": None, "after": None, "fix": crash.reason}
    return {
        "status": status, "settings": options.settings, "version": version, "mass": None,
        "order": None, "worst": None, "causes": [cause], "apart": {}, "accord": status,
        "acceleration": None,
    }  # fmt: skip


def write_repaired(
    files: Sequence[UrdfFile], robots: Sequence[dict[str, Any]], targets: Sequence[Path],
    engines: Mapping[str, str], options: Options, done: Callable[[str], None],
) -> None:  # fmt: skip
    """Write each file with the smallest repairs of its causes, and examine it again.

    A repair that gives another engine a cause is followed by that one's. Adds `repairs` and
    `repaired`, the status of each engine, to the robots.

    Args:
        files: of the robots.
        robots: what was found of them.
        targets: files to write.
        engines, options, done: as of `examine_all`.
    """
    wanted = [causes_of(robot) for robot in robots]
    open_ = list(range(len(files)))
    while open_:
        again = []
        for i in open_:
            text, traps = repair(Bench(files[i], options.base, options.seed), wanted[i])
            make_folder(targets[i].parent)
            write_text(targets[i], text, ".urdf")
            robots[i]["repairs"] = [
                {"cause": t.cause, "where": list(t.where), "fix": t.fix} for t in traps
            ]
            again.append(replace(files[i], text=text))
        found = examine_all(again, engines, options, done)
        for i, robot in zip(open_, found, strict=True):
            robots[i]["repaired"] = {n: e["status"] for n, e in robot["engines"].items()}
            robots[i]["left"] = sorted(causes_of(robot))
        more = [i for i, robot in zip(open_, found, strict=True) if causes_of(robot) - wanted[i]]
        for i, robot in zip(open_, found, strict=True):
            wanted[i] |= causes_of(robot)
        open_ = more


def causes_of(robot: Mapping[str, Any]) -> set[str]:
    """Return the causes that make an engine differ from the reference, or refuse the robot."""
    return {
        cause["cause"]
        for engine in robot["engines"].values()
        if engine["status"] not in ("same", "undecided")
        for cause in engine["causes"]
        if cause["cause"] != MIMIC
    }


def counts(robots: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Return for each engine how many robots are read alike or not, and have each cause."""
    found = dict[str, Counter[str]]()
    for robot in robots:
        for name, engine in robot["engines"].items():
            here = found.setdefault(name, Counter(same=0, differ=0, refused=0, undecided=0))
            here[engine["status"]] += 1
            here.update({cause["cause"] for cause in engine["causes"]})
    return {name: dict(counter) for name, counter in found.items()}


def junit(robots: Sequence[Mapping[str, Any]]) -> str:
    """Return the result as JUnit: a suite for each robot, a case for each engine."""
    top = ET.Element("testsuites", name="accord parity")
    for robot in robots:
        kinds = Counter(engine["status"] for engine in robot["engines"].values())
        suite = ET.SubElement(
            top, "testsuite", name=robot["name"], tests=str(len(robot["engines"])),
            failures=str(kinds["differ"]), errors=str(kinds["refused"]),
            skipped=str(kinds["undecided"]),
        )  # fmt: skip
        for name, engine in robot["engines"].items():
            case = ET.SubElement(suite, "testcase", classname=robot["name"], name=name)
            if engine["status"] == "same":
                continue
            said = "; ".join(f"{c['cause']} at {c['where']}: {c['fix']}" for c in engine["causes"])
            tag = {"differ": "failure", "undecided": "skipped"}.get(engine["status"], "error")
            ET.SubElement(case, tag, message=engine["status"]).text = said
    return ET.tostring(top, encoding="unicode")
