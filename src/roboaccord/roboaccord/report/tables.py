"""The tables of a report: what was measured, what is allowed, and whether it is within."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

UNITS = {
    "work": "J",
    "net_work": "J",
    "peak_effort": "N m",
    "speed": "m/s",
    "heading": "rad",
    "displacement_x": "m",
    "displacement_y": "m",
}
Row = tuple[str, list[str], bool | None]
"""Engine, cells, and whether it is within tolerance: None where nothing is judged."""


@dataclass(frozen=True)
class Level:
    """Hold one level of the check: its table, and how to read it."""

    title: str
    how: str
    columns: Sequence[str]
    rows: Sequence[Row]

    @property
    def passed(self) -> bool | None:
        """Whether every row that is judged is within tolerance."""
        judged = [row[2] for row in self.rows if row[2] is not None]
        return all(judged) if judged else None


def levels_of(result: Mapping[str, Any]) -> list[Level]:
    """Return the tables of the masses and of the three levels."""
    allowed = result["tolerances"]
    return [
        Level(
            "Level 1: accelerations",
            "Both are put in the same random states and asked for accelerations; no time passes, "
            "so anything above round-off is a difference between the models.",
            ("engine", "largest error, relative", "states", "allowed"),
            [
                _acceleration(engine, check, allowed)
                for engine, check in result["acceleration"].items()
            ],
        ),
        Level(
            "Level 1: masses",
            "What each engine believes it carries; the link furthest off is named.",
            ("engine", "total [kg]", "reference [kg]", "furthest off", "allowed"),
            [_mass(engine, check, allowed) for engine, check in result["masses"].items()],
        ),
        Level(
            "Level 2: one step",
            "The reference starts from every recorded state and predicts the next one. The error "
            "does not accumulate, so it shows where in the motion the engines part.",
            ("engine", "rms", "largest", "share of the change", "allowed"),
            [_one_step(engine, check, allowed) for engine, check in result["one_step"].items()],
        ),
        Level(
            "Level 3: whole trajectories",
            "Largest distance of any link from the converged reference, at smaller and smaller "
            "physics steps. Halving the step must divide it by 2 to the power of the order: then "
            "the step makes the difference, and the models are the same.",
            ("engine", *_step_columns(result), "order", "expected", "allowed"),
            [_trajectory(engine, check, allowed) for engine, check in result["trajectory"].items()],
        ),
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


def _acceleration(engine: str, check: Mapping[str, Any], allowed: Mapping[str, Any]) -> Row:
    if check["max"] is None:
        return engine, [f"not compared: {check['reason']}", "", ""], None
    cells = [_number(check["max"], "1e"), str(check["states"]), _number(allowed["acceleration"])]
    return engine, cells, bool(check["max"] <= allowed["acceleration"])


def _mass(engine: str, check: Mapping[str, Any], allowed: Mapping[str, Any]) -> Row:
    off = check["worst_ratio"] - 1.0
    cells = [
        f"{check['total']:.6g}",
        f"{check['reference']:.6g}",
        f"{check['worst_link']} {100 * off:+.2g} %" if abs(off) > allowed["mass"] else "none",
        _number(allowed["mass"]),
    ]
    return engine, cells, bool(abs(off) <= allowed["mass"])


def _one_step(engine: str, check: Mapping[str, Any], allowed: Mapping[str, Any]) -> Row:
    unit, share = check["unit"], check.get("relative")
    cells = [f"{_number(check['rms'], '2e')} {unit}", f"{_number(check['max'], '2e')} {unit}"]
    if share is None:
        return engine, [*cells, "", ""], None
    cells += [f"{100 * share:.2g} %", f"{100 * allowed['one_step']:g} %"]
    return engine, cells, bool(share <= allowed["one_step"])


def _trajectory(engine: str, check: Mapping[str, Any], allowed: Mapping[str, Any]) -> Row:
    cells = [f"{_number(None if e is None else 1e3 * e, '3g')} mm" for e in check["error"]]
    order, limit = check["order"], allowed.get("trajectory", {}).get(engine)
    cells += [_number(order, "2f"), str(check["expected_order"])]
    if limit is not None:
        within = check["error"][0] is not None and check["error"][0] <= limit
        return engine, [*cells, f"{1e3 * limit:g} mm"], bool(within)
    if order is None or check["expected_order"] != 1 or len(check["dt"]) < 2:
        return engine, [*cells, "–"], None
    cells.append(f"1 ± {allowed['order']:g}")
    return engine, cells, bool(abs(order - 1.0) <= allowed["order"])


def _number(value: float | None, form: str = "g") -> str:
    return "–" if value is None else format(value, f".{form}" if form != "g" else form)
