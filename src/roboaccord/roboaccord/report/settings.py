"""Settings of recorded runs: in which keys their scenarios differ, and labels that tell it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Json, Quantity, Word
from roboaccord.report.signals import RunSignals
from roboaccord.scenario.keys import in_yaml, keys_of

NONE = "–"
FEW = 2  # keys that differ and still make a label


@dataclass(frozen=True)
class SettingChange:
    """Hold a key of the scenario in which runs differ, `engine` or `transport`.

    Args:
        key: with dots, as `--set` takes it.
        unit: "" for none.
        values: of each run, in YAML.
    """

    key: Word
    unit: Word
    values: Annotated[Sequence[str], Quantity("", form="s")]


def changes_of(runs: Sequence[RunSignals]) -> list[SettingChange]:
    """Return in what the scenarios and engines of runs differ, as their bags have them."""
    every = [{key: (value, unit) for key, value, unit in _settings(run)} for run in runs]
    changes = []
    for key in dict.fromkeys(key for each in every for key in each):
        values = [each.get(key, (NONE, ""))[0] for each in every]
        unit = next(each[key][1] for each in every if key in each)
        if len({*values}) > 1:
            changes.append(SettingChange(key, unit, values))
    return changes


def labels_of(runs: Sequence[RunSignals]) -> list[str]:
    """Return a label for each run: by the keys that differ, where they are few, or its folder."""
    changes = changes_of(runs)
    labels = [_folder(run) for run in runs]
    if 0 < len(changes) <= FEW:
        labels = [
            ", ".join(f"{c.key.rpartition('.')[2]} {c.values[i]}" for c in changes)
            for i in range(len(runs))
        ]
    return (
        labels if len({*labels}) == len(labels) else [f"{i + 1}: {n}" for i, n in enumerate(labels)]
    )


def _folder(run: RunSignals) -> str:
    path = run.path
    alike = path.name.startswith("bag") and path.resolve().parent.name
    return alike or path.name or run.run.robot


def _settings(run: RunSignals) -> Iterator[tuple[str, str, str]]:
    """Yield the keys of a run with value and unit."""
    if run.run.engine:
        yield "engine", run.run.engine, ""
    if run.run.transport:
        yield "transport", run.run.transport, ""
    try:
        known = keys_of(run.setup) if run.setup else []
    except AccordError:
        known = []
    found = [(k.key, k.value, k.unit) for k in known] or [*_flat(run.run.scenario)]
    yield from (each for each in found if each[0] != "description")


def _flat(data: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", in_yaml(value), ""
