"""Settings in which recorded runs differ, and labels of runs that name them.

Settings are the keys of the scenario, the engine, the transport and a user's controller. Where at
most KEYS_IN_LABEL of them differ, a run's label has their values, and otherwise its folder. Names
of `SettingChange` are keys of `--json` and stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from roboaccord.bag.reader import BagRun
from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Json, Quantity, Word
from roboaccord.report.signals import RunSignals
from roboaccord.run.runner import Run
from roboaccord.scenario.keys import in_yaml, keys_of

NONE = "–"  # value of a key that a run does not have
KEYS_IN_LABEL = 2  # largest number of keys in a label: more are too long for a legend


def read_runs(runs: Sequence[Path | str | BagRun | Run | RunSignals]) -> list[RunSignals]:
    """Return the signals of several runs."""
    return [run if isinstance(run, RunSignals) else RunSignals(run) for run in runs]


@dataclass(frozen=True)
class SettingChange:
    """A key in which runs differ: of the scenario, `engine`, `transport` or `controller`.

    Args:
        key: with dots, as `--set` takes it.
        unit: of the value; "" for none.
        values: one for each run, in YAML.
    """

    key: Word
    unit: Word
    values: Annotated[Sequence[str], Quantity("", form="s")]


def changes_of(runs: Sequence[RunSignals]) -> list[SettingChange]:
    """Return the keys in which runs differ, with their values."""
    # Value and unit of each setting, by run and key.
    settings = [{key: (value, unit) for key, value, unit in _settings(run)} for run in runs]
    changes = []
    for key in dict.fromkeys(key for run_settings in settings for key in run_settings):
        values = [run_settings.get(key, (NONE, ""))[0] for run_settings in settings]
        unit = next(run_settings[key][1] for run_settings in settings if key in run_settings)
        if len({*values}) > 1:
            changes.append(SettingChange(key, unit, values))
    return changes


def labels_of(runs: Sequence[RunSignals]) -> list[str]:
    """Return a label for each run: the values of the few keys that differ, or else its folder.

    Equal labels are numbered.
    """
    changes = changes_of(runs)
    labels = [_folder(run) for run in runs]
    if 0 < len(changes) <= KEYS_IN_LABEL:
        labels = []
        for i in range(len(runs)):
            values = (f"{change.key.rpartition('.')[2]} {change.values[i]}" for change in changes)
            labels.append(", ".join(values))
    all_different = len({*labels}) == len(labels)
    return labels if all_different else [f"{i + 1}: {label}" for i, label in enumerate(labels)]


def _folder(run: RunSignals) -> str:
    """Return the name of a run's folder, or of its robot where it has none."""
    path = run.path
    # A run writes FOLDER/bag.
    run_folder = path.name.startswith("bag") and path.resolve().parent.name
    return run_folder or path.name or run.run.robot


def _settings(run: RunSignals) -> Iterator[tuple[str, str, str]]:
    """Yield key, value and unit of each setting of a run."""
    for key in ("engine", "transport", "controller"):
        if value := getattr(run.run, key):
            yield key, value, ""
    try:
        keys = keys_of(run.setup) if run.setup else []
    except AccordError:  # the controller is not installed
        keys = []
    # Without the robot, and of a user's controller, what the bag has, which has no units.
    settings = {entry.key: (entry.key, entry.value, entry.unit) for entry in keys}
    for setting in _flat(run.run.scenario):
        if not keys or setting[0].startswith("controller."):
            settings.setdefault(setting[0], setting)
    settings.pop("description", None)
    yield from settings.values()


def _flat(data: Mapping[str, Json], prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield key with dots, value in YAML and no unit, of nested data."""
    for key, value in data.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", in_yaml(value), ""
