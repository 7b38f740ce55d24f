"""The tables of a report: what was measured, what is allowed, and whether it is within."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from roboaccord.contract.outcome import BELOW
from roboaccord.run.metrics import UNITS

LISTED = 6  # differences of a model that a table names

Row = tuple[str, list[str], str]
"""Engine, cells, and the outcome of the level; "" for the reference, which is not judged."""


@dataclass(frozen=True)
class Level:
    """Hold one level of the check: its table, and how to read it."""

    title: str
    how: str
    columns: Sequence[str]
    rows: Sequence[Row]


def outcomes_of(result: Mapping[str, Any]) -> Callable[[str, str], str]:
    """Return what gives the outcome of a level of an engine, "" for the reference."""
    levels = result["levels"]
    return lambda level, engine: str(levels.get(level, {}).get(engine, {}).get("outcome", ""))


def levels_of(result: Mapping[str, Any]) -> list[Level]:
    """Return the tables of the masses and of the three levels."""
    allowed, outcome = result["tolerances"], outcomes_of(result)
    if result.get("statistics"):
        return [*_models(result), _statistics(result), _noise(result)]
    return [
        *_models(result),
        Level(
            "Level 2: one step",
            "The reference starts from every recorded state and predicts the next one. The error "
            "does not accumulate, so it shows where in the motion the engines part. A difference "
            "of the models stays when the physics step gets smaller; an integrator's error falls.",
            (
                "engine",
                "rms",
                "largest",
                "share of the change",
                "order",
                "left at 0",
                "explained",
                "allowed",
            ),
            [
                (engine, _one_step(check, allowed), outcome("one_step", engine))
                for engine, check in result["one_step"].items()
            ],
        ),
        Level(
            "Level 3: whole trajectories",
            "Largest distance of any link from the converged reference, at smaller and smaller "
            "physics steps. Halving the step must divide it by 2 to the power of the order. Every "
            "coordinate is extrapolated to a step of 0: what is left there must be explained by "
            "the step (twice the difference of two extrapolations), round-off and the reference's "
            "own error.",
            (
                "engine",
                *_step_columns(result),
                "order",
                "expected",
                "left at 0",
                "explained",
                "of",
                "allowed",
            ),
            [
                (
                    engine,
                    _trajectory(check, allowed, engine),
                    outcome("trajectory", engine),
                )
                for engine, check in result["trajectory"].items()
            ],
        ),
        _noise(result),
    ]


def _models(result: Mapping[str, Any]) -> list[Level]:
    allowed, outcome = result["tolerances"], outcomes_of(result)
    return [
        Level(
            "Level 1: accelerations",
            "Both are put in the same random states and asked for accelerations; no time passes, "
            "so anything above round-off is a difference between the models.",
            ("engine", "largest error, relative", "states", "allowed"),
            [
                (engine, _acceleration(check, allowed), outcome("acceleration", engine))
                for engine, check in result["acceleration"].items()
            ],
        ),
        Level(
            "Level 1: models",
            "What each engine has of masses, centres, inertias, lengths, axes, limits, damping and "
            "armature, compared with the description, and states that are set and read back.",
            ("engine", "total [kg]", "reference [kg]", "off"),
            [
                (engine, _model(check), outcome("acceleration", engine))
                for engine, check in result["masses"].items()
            ],
        ),
    ]


def _noise(result: Mapping[str, Any]) -> Level:
    return Level(
        "Noise floor and horizon",
        "Each simulator runs once more, and from a start of which one value has its last bit "
        "changed. The floor is the largest distance of any link that this makes; where it comes to "
        "1 mm, no two runs agree any longer. The rate is that at which small distances grow.",
        ("engine", "floor", "rate", "agree until"),
        [
            (
                engine,
                [
                    f"{_number(1e3 * found['floor'], '2g')} mm",
                    "–" if found["rate"] is None else f"{found['rate']:.2g} 1/s",
                    "the end" if found["horizon"] is None else f"t = {found['horizon']:.4g} s",
                ],
                "",
            )
            for engine, found in result["noise"].items()
        ],
    )


def _statistics(result: Mapping[str, Any]) -> Level:
    outcome = outcomes_of(result)
    checks = result["statistics"]
    first = next(iter(checks.values()))
    unit = f" [{first['unit']}]" if first["unit"] else ""
    return Level(
        "Level 3: statistics over seeds",
        f"{result['not_compared']} The difference of the medians is given with 95 % confidence "
        "(bootstrap); an engine fails where it is larger than allowed throughout, or where the "
        "share above 0 is unlike the reference's (Fisher, 5 %). Allowed is what both medians "
        "move from twice the physics step to the step.",
        (
            "engine",
            f"mean {first['figure'].replace('_', ' ')}{unit}",
            "median",
            "standard deviation",
            "runs",
            "above 0",
            "difference from the reference",
            "allowed",
        ),
        [
            (engine, statistics_cells(check), outcome("statistics", engine))
            for engine, check in checks.items()
        ],
    )


def statistics_cells(check: Mapping[str, Any]) -> list[str]:
    """Return mean, median, deviation, runs, share above 0, difference and allowance as text."""
    mean, width = check["mean"], check["half_width"]
    positive, apart = check["positive"], check["difference"]
    return [
        "–" if width is None else f"{mean:.3g} ± {width:.2g}",
        _number(check["median"], "3g"),
        _number(check["deviation"], "2g"),
        str(check["n"]),
        "–" if positive is None else f"{100 * positive:.0f} %",
        "–" if apart is None else f"{apart[0]:.2g} to {apart[1]:.2g}",
        "" if apart is None else f"{check['allowance']:.2g}",
    ]


def metric_rows(metrics: Mapping[str, Mapping[str, float | None]]) -> list[list[str]]:
    """Return rows name, unit, and a cell for each engine, with its difference to the first."""
    engines = list(metrics)
    names = dict.fromkeys(name for values in metrics.values() for name in values)
    rows = []
    for name in names:
        first = metrics[engines[0]].get(name)
        cells = []
        for engine in engines:
            value = metrics[engine].get(name)
            apart = ""
            if engine != engines[0] and value is not None and first:
                apart = f" ({100 * (value / first - 1):+.2g} %)"
            cells.append(_number(value, "5g") + apart)
        rows.append([name.replace("_", " "), UNITS.get(name, ""), *cells])
    return rows


def _step_columns(result: Mapping[str, Any]) -> list[str]:
    first: Mapping[str, Any] = next(iter(result["trajectory"].values()), {"dt": []})
    return [f"{1e3 * dt:g} ms" for dt in first["dt"]]


def _acceleration(check: Mapping[str, Any], allowed: Mapping[str, Any]) -> list[str]:
    if check["max"] is None:
        return [f"not compared: {check['reason']}", "", ""]
    return [_number(check["max"], "1e"), str(check["states"]), _number(allowed["acceleration"])]


def _model(check: Mapping[str, Any]) -> list[str]:
    off = [" ".join((d["quantity"], d["where"], d["text"])) for d in check["differences"]]
    listed = "; ".join(off[:LISTED]) + (f"; and {len(off) - LISTED} more" * (len(off) > LISTED))
    return [f"{check['total']:.6g}", f"{check['reference']:.6g}", listed or "nothing"]


def _one_step(check: Mapping[str, Any], allowed: Mapping[str, Any]) -> list[str]:
    unit, limit = check["unit"], allowed["one_step"]
    share = limit["limit"] if isinstance(limit, Mapping) else limit
    either = "" if isinstance(limit, Mapping) else f", or order {1 - allowed['one_step_order']:g}"
    return [
        f"{_number(check['rms'], '2e')} {unit}",
        f"{_number(check['max'], '2e')} {unit}",
        f"{100 * check['relative']:.2g} %",
        BELOW if check["rms"] <= check["floor"] else _number(check["order"], "2f"),
        _number(check["left"], "2e"),
        _number(check["bound"], "2e"),
        f"{100 * share:g} %{either}",
    ]


def _trajectory(check: Mapping[str, Any], allowed: Mapping[str, Any], engine: str) -> list[str]:
    cells = [f"{_number(None if e is None else 1e3 * e, '3g')} mm" for e in check["error"]]
    order = _number(check["order"], "2f")
    if check["order"] is None and max(check["error"]) <= check["floor"]:
        order = BELOW
    cells += [order, str(check["expected_order"])]
    cells += [_number(check["left"], "2e"), _number(check["bound"], "2e"), check["where"]]
    limit = allowed["trajectory"].get(engine)
    if isinstance(limit, Mapping):
        return [*cells, f"{1e3 * limit['limit']:g} mm: {limit['reason']}"]
    least = (1.0 - allowed["order"]) * check["expected_order"]
    tighter = "" if limit is None else f", {1e3 * limit:g} mm"
    return [*cells, f"order {least:g} at least{tighter}"]


def _number(value: float | None, form: str = "g") -> str:
    return "–" if value is None else format(value, f".{form}" if form != "g" else form)
