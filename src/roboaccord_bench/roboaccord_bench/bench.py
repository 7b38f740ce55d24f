"""Run problems in engines, each at falling steps, and keep what is found for the next time.

`run` returns what `--json` prints, whose keys stay. Each result is a line of a file as soon as it
is there, so that an interrupted bench continues; a result of another version of the engine is
measured again.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from roboaccord.contract import AccordError, open_growing
from roboaccord.run import run_pieces

from roboaccord_bench.found import load_engine, load_problem
from roboaccord_bench.outcome import Outcome, judge
from roboaccord_bench.pairing import tries
from roboaccord_bench.problem import Case, Trial

STEPS = (2e-3, 1e-3, 5e-4)  # s
RESULTS = "results.jsonl"
ROWS = 200  # of a series that is kept
WORDS = "name", "figure", "unit", "source", "columns"  # of a problem
Json = dict[str, Any]
Done = Callable[[str], None]


class Call(NamedTuple):
    """One case of a problem in an engine under one set of options, at steps [s]."""

    problem: str
    case: Case
    engine: str
    setting: str
    steps: Sequence[float]

    @property
    def key(self) -> str:
        """Under which its result is kept."""
        return json.dumps([*self, load_engine(self.engine).version])


def plan(
    names: Iterable[str], engines: Iterable[str], steps: Sequence[float] = STEPS
) -> list[Call]:
    """Return the calls of all cases of problems in all settings of engines, case by case."""
    runs = [(name, key) for name in dict.fromkeys(engines) for key in load_engine(name).options]
    cases = [(name, case) for name in dict.fromkeys(names) for case in load_problem(name).cases]
    return [Call(*case, *run, steps) for case in cases for run in runs]


def run(calls: Sequence[Call], folder: Path, done: Done = lambda what: None) -> Json:
    """Return all results of a plan, and what makes engines equal whose conventions differ.

    Args:
        calls: of a `plan`.
        folder: with the file of results.
        done: called with each result's problem and engine.
    """
    entries = dict[str, Json]()
    for call, result in zip(calls, _results(calls, folder, done), strict=True):
        problem, key = load_problem(call.problem), json.dumps(call[:2])
        if key not in entries:
            exact = problem.exact(**call.case)
            entries[key] = {word: getattr(problem, word) for word in WORDS}
            entries[key] |= {"case": dict(call.case), "exact": exact, "results": []}
        entries[key]["results"].append(result)
    for entry in entries.values():
        if load_problem(entry["name"]).convention:
            entry["equal"] = _tried(entry, tries(entry), folder)
    return {"problems": [*entries.values()]}


def _tried(entry: Json, rows: list[Json], folder: Path) -> list[Json]:
    """Return rows of `tries` with the error `after`, by runs with equal surfaces."""
    calls, steps = [], entry["results"][0]["step"]
    for row in rows:
        case = dict.fromkeys(entry["case"], float(row["surface"]))
        calls.append(Call(entry["name"], case, row["engine"], row["setting"], steps))
    for row, result in zip(rows, _results(calls, folder), strict=True):
        if result["outcome"] != "refused":
            row["after"] = row["surface"] * (1.0 + result["error"][-1]) / row["wanted"] - 1.0
    return [row for row in rows if "after" in row]


def _results(calls: Sequence[Call], folder: Path, done: Done = lambda what: None) -> list[Json]:
    """Return the results of calls, from the file, or measured now and entered there."""
    path = folder / RESULTS
    with open_growing(path) as file:
        stored = _stored(path, file)
        missing = {call.key: call for call in calls if call.key not in stored}

        def keep(pair: tuple[str, Json]) -> None:
            """Append a result to the file."""
            file.write(json.dumps(pair) + "\n")
            file.flush()
            stored.update([pair])
            done(f"{missing[pair[0]].problem} in {pair[1]['engine']}")

        run_pieces(measure, [(call,) for call in missing.values()], done=keep)
    return [stored[call.key] for call in calls]


def _stored(path: Path, file: TextIO) -> dict[str, Json]:
    """Return the results in a file by their keys, and drop a last line that was cut off.

    Raises:
        AccordError: if it is not a file of results.
    """
    file.seek(0)
    complete, end, _ = file.read().rpartition("\n")
    try:
        stored = dict(map(json.loads, complete.splitlines()))
    except (ValueError, TypeError) as error:
        raise AccordError(f"{path} has no results of a bench: {error}") from None
    file.truncate(len(complete + end))
    return stored


def measure(call: Call) -> tuple[str, Json]:
    """Return the key of a call, and its result."""
    start, case, steps = time.process_time(), call.case, call.steps
    problem, engine = load_problem(call.problem), load_engine(call.engine)
    trials = [Trial(engine, call.setting, step, certify=step == steps[1]) for step in steps]
    exact, figures, refusal = problem.exact(**case), list[list[float]](), Json()
    outcome = Outcome("refused")
    try:
        for trial in trials:
            figures.append(trial.measure(problem, case))
        laws, scale = problem.laws(**case), problem.scale
        outcome = judge(figures, exact, scale=scale, laws=laws, convention=problem.convention)
    except AccordError as error:
        refusal = {"reason": str(error)}
    means = [sum(row) / len(row) for row in figures]
    series, width = trials[-1].series, 1 + len(problem.columns)
    result: Json = {"engine": call.engine, "version": engine.version, "setting": call.setting}
    result |= {"options": dict(engine.options[call.setting]), "step": steps, "figure": figures}
    result |= {"error": [mean / exact - 1.0 if exact else mean for mean in means]}
    result |= {**outcome._asdict(), **refusal, "certificate": trials[1].certificate}
    if problem.convention:
        result["certificate"] = {"does_not_apply": "the pair's coefficient is what is asked"}
    result |= problem.further(means[-1], **case) if means else {}
    result |= {"series": [row[:width] for row in series[:: max(len(series) // ROWS, 1)]]}
    return call.key, {**result, "cpu": time.process_time() - start}
