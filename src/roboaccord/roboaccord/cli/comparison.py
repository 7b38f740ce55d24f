"""The printed comparison of recorded runs, of `accord compare` and in notebooks.

A `Comparison`, which report/comparison.py computes, goes in; lines and tables for the terminal come
out. `shown_of` lists the runs as A, B, C, ...; then the keys of their scenarios and the figures
that differ, the time from which their motions differ (a `Parting`), the deviation of each signal,
and the verdict. Nothing is computed here. Tables must fit 80 columns (test_desk).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from string import ascii_uppercase

from rich.console import RenderableType
from rich.text import Text

from roboaccord.bag.compare import Deviation, Pair, is_turn
from roboaccord.cli.console import figure_lines, make_table
from roboaccord.cli.rendering import NONE, tables_of
from roboaccord.contract.results import unit_of
from roboaccord.report.comparison import Comparison, Parting

LARGEST_RUN_COUNT = 5  # runs side by side in one table: as many as fit 80 characters


def shown_of(comparison: Comparison, *, every_signal: bool = False) -> list[RenderableType]:
    """Return the printed comparison: what changed, a table for each pair of runs, the verdict.

    Args:
        comparison: to be printed.
        every_signal: list all signals; by default, of each kind only the one that differs most.
    """
    output: list[RenderableType] = []
    # Runs are called A, B, ..., Z, AA, BB, ...
    letters = [ascii_uppercase[i % 26] * (1 + i // 26) for i in range(len(comparison.runs))]
    for letter, path, signals in zip(letters, comparison.runs, comparison.data, strict=True):
        run = signals.run
        title = f"{run.robot} {run.scenario.get('name', '')} in {run.engine or '?'}"
        output.append(Text(f"{letter}  {path}: {title}, {signals.motion.time[-1]:g} s"))
    if comparison.end is not None:
        subject = "compared" if len(letters) == 2 else "figures"
        output.append(f"{subject} up to {comparison.end:g} s, where the shortest run ends")
    # Keys of the scenario, then figures, that differ.
    changes = {change.key: (change.values, change.unit) for change in comparison.changes}
    output += ["", *_values_by_run("scenario", letters, changes, "no key of the scenario differs")]
    figures = {
        figure.name.replace("_", " "): (figure.values, figure.unit)
        for figure in comparison.figures
        if not all(map(math.isnan, figure.values))
    }
    output += ["", *_values_by_run("figures", letters, figures, "no figures")]
    # When motions part, deviations of signals, verdict.
    output += ["", *(_difference_line(parting, letters) for parting in comparison.partings)]
    for letter, pair in zip(letters[1:], comparison.signals.pairs, strict=True):
        output += ["", *_deviation_table(letter, pair, every_signal)]
    default_reason = comparison.signals.why  # "" where a tolerance was given
    if comparison.judged:
        reason = f", {default_reason}" if default_reason else ""
        tolerance = comparison.signals.tolerance
        output.append(f"{comparison.verdict} at tolerance {tolerance:g}{reason}")
    if default_reason and comparison.verdict == "fail" and "engine" in changes:
        output.append("to judge whether an engine is right, step by step: accord crosscheck")
    return output


def _values_by_run(
    title: str,
    letters: Sequence[str],
    rows: Mapping[str, tuple[Sequence[str] | Sequence[float], str]],
    no_rows: str,
) -> Iterator[RenderableType]:
    """Yield the values of each run: `old -> new` for two runs, tables for more.

    Args:
        title: above the values.
        letters: of the runs.
        rows: by name, the value of each run, and the unit.
        no_rows: printed where there are no rows.
    """
    if not rows:
        yield no_rows
    elif len(letters) == 2:
        yield f"{title}, A -> B"
        yield from figure_lines({name: _arrow(*row) for name, row in rows.items()})
    else:
        for first in range(0, len(letters), LARGEST_RUN_COUNT):
            columns = slice(first, first + LARGEST_RUN_COUNT)
            table = make_table(title, *letters[columns], "unit", words=["unit"])
            for name, (values, unit) in rows.items():
                table.add_row(name, *map(_short, values[columns]), unit)
            yield table


def _arrow(values: Sequence[str] | Sequence[float], unit: str) -> tuple[str, str]:
    """Return `old -> new UNIT (change in percent)` of two values; the second text is empty."""
    old, new = values
    change = ""
    if isinstance(old, float) and isinstance(new, float) and math.isfinite(old + new):
        if new == old:
            change = " (same)"
        elif old * new > 0.0:  # otherwise a percentage would mean nothing
            change = f" ({100.0 * (new / old - 1.0):+.3g} %)"
    return f"{_short(old)} -> {_short(new)} {unit}".rstrip() + change, ""


def _short(value: str | float) -> str:
    """Return a value in up to four digits; a dash for NaN."""
    if isinstance(value, str):
        return value
    return NONE if math.isnan(value) else f"{value:.4g}"


def _difference_line(parting: Parting, letters: Sequence[str]) -> Text:
    """Return one line: from when on, where, and by how much two motions differ."""
    pair = f"{parting.kind}s of A and {letters[parting.run]}"
    size = f"{parting.largest:.3g} {parting.unit}"
    largest = f"{size} at {parting.largest_at:.4g} s ({parting.largest_where})"
    threshold = f"{parting.threshold:g} {parting.unit}"
    if not parting.largest:
        return Text(f"{pair} are identical to the last bit")
    if parting.time is None:
        return Text(f"{pair} stay within {threshold}: at most {largest}")
    difference = f"by more than {threshold} from {parting.time:.4g} s on, first in {parting.where}"
    return Text(f"{pair} differ {difference}; at most {largest}")


def _deviation_table(letter: str, pair: Pair, every_signal: bool) -> Iterator[RenderableType]:
    """Yield the table of the deviations of a run's signals from run A, and what was left out."""
    yield f"{letter} against A, {pair.duration:g} {unit_of(Pair, 'duration')}"
    names_by_kind = dict[str, list[str]]()
    for name in pair.signals:
        kind = name.partition("/")[0] + ("/turn" if is_turn(name) else "")
        names_by_kind.setdefault(name if every_signal else kind, []).append(name)
    # Of each kind, the signal with the largest deviation.
    worst = dict[str, Deviation]()
    for names in names_by_kind.values():
        name = max(names, key=lambda name: pair.signals[name].max)
        label = name if len(names) == 1 else f"{name}, worst of {len(names)}"
        worst[label] = pair.signals[name]
    yield from tables_of([*worst.values()], labels=worst)
    if pair.stamps_left:
        left_out = f"{pair.stamps_left} that only one has are left out"
        yield f"compared at the time stamps that both bags have; {left_out}"
    if pair.interpolated:
        stamps = f"{pair.interpolated} time stamps that only one bag has"
        yield f"interpolated at {stamps}: positions by cubics, rates by lines"
    if pair.skipped:
        yield Text(f"not compared, for lack of common samples: {', '.join(pair.skipped)}")
    if pair.left_out:
        count = sum(pair.left_out.values())
        yield Text(f"{count} values left out, unknown between samples: {', '.join(pair.left_out)}")
