"""Run problems in engines, each at falling steps, and keep what is found for the next time.

`run` returns what `--json` prints, whose keys stay. Each result is a line of a file as soon as it
is there, so that an interrupted bench continues; a result of another version of the engine is
measured again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from roboaccord.contract import AccordError, open_growing, read_text
from roboaccord.run import run_pieces

from roboaccord_bench.found import load_engine, load_problem
from roboaccord_bench.outcome import judge
from roboaccord_bench.problem import Problem, Trial

STEPS = (2e-3, 1e-3, 5e-4)  # s
RESULTS = "results.jsonl"
ROWS = 200  # of a series that is kept
Json = dict[str, Any]
Call = tuple[str, int, str, str, tuple[float, ...]]  # arguments of `measure`


def measure(
    name: str, number: int, engine_name: str, setting: str, steps: tuple[float, ...]
) -> Json:
    """Return the result of one case of a problem in an engine under one set of options."""
    problem, engine = load_problem(name), load_engine(engine_name)
    case = problem.cases[number]
    trials = [Trial(engine, setting, step, certify=step == steps[1]) for step in steps]
    exact, figures, cpu = problem.exact(**case), [], []
    result: Json = {"engine": engine_name, "version": engine.version, "setting": setting}
    result |= {"options": dict(engine.options[setting]), "step": [*steps]}
    outcome: Json = {"outcome": "refused", "order": None, "constant": None, "law": ""}
    try:
        for trial in trials:
            row, seconds = trial.measure(problem, case)
            figures.append(row)
            cpu.append(seconds)
        found = judge(
            figures,
            exact,
            scale=problem.scale,
            laws=problem.laws(**case),
            convention=problem.convention,
        )
        outcome = found._asdict()
    except AccordError as error:
        outcome["reason"] = str(error)
    means = [sum(row) / len(row) for row in figures]
    series = trials[-1].series[:: max(len(trials[-1].series) // ROWS, 1)]
    result |= {"figure": figures, "error": [m / exact - 1.0 if exact else m for m in means]}
    result |= {**outcome, "cpu": sum(cpu), "certificate": trials[1].certificate or {}}
    return result | {"series": series}


def run(
    names: Iterable[str],
    engines: Iterable[str],
    folder: Path,
    steps: Sequence[float] = STEPS,
    done: Callable[[str], None] = lambda text: None,
) -> Json:
    """Run problems in engines, and return all results.

    Args:
        names: of problems.
        engines: names of engines that are installed.
        folder: with the file of results.
        steps: physics steps, each half the one before [s].
        done: called with each result's problem and engine.
    """
    path, chosen = folder / RESULTS, {name: load_engine(name) for name in engines}
    lines = read_text(path).splitlines() if path.exists() else []
    stored: dict[str, Json] = dict(map(json.loads, lines))
    calls = {
        json.dumps([*call, chosen[call[2]].version]): call
        for engine in chosen
        for name in names
        for number in range(len(load_problem(name).cases))
        for setting in chosen[engine].options
        for call in [(name, number, engine, setting, tuple(steps))]
    }
    with open_growing(path) as file:

        def keep(pair: tuple[str, Json]) -> None:
            """Append a result to the file."""
            file.write(json.dumps(pair) + "\n")
            file.flush()
            stored.update([pair])
            done(f"{calls[pair[0]][0]} in {pair[1]['engine']}")

        missing = [(key, call) for key, call in calls.items() if key not in stored]
        run_pieces(_measured, missing, done=keep)
    entries: dict[tuple[str, int], Json] = {}
    for key, (name, number, *_) in calls.items():
        entry = entries.setdefault((name, number), _entry(load_problem(name), number))
        entry["results"].append(stored[key])
    return {"problems": [*entries.values()]}


def _measured(key: str, call: Call) -> tuple[str, Json]:
    """Return a key, and the result of `measure` for a call."""
    return key, measure(*call)


def _entry(problem: Problem, number: int) -> Json:
    """Return a case of a problem, without results."""
    case = problem.cases[number]
    keys = ("name", "figure", "unit", "source", "columns")
    entry = {key: getattr(problem, key) for key in keys}
    return {**entry, "case": dict(case), "exact": problem.exact(**case), "results": []}
