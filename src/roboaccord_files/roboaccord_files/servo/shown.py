"""Show the result of `accord servo`: a table and a picture a joint, differences, and matches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.console import make_table
from roboaccord.engines import REFERENCE
from roboaccord.report.drawing import legend, picture

from roboaccord_files.servo.compare import EXACT, RAMP, Responses

TINY = 1e-15  # a smaller number is round-off
SIZE = 10.0, 5.6  # inches; three axes side by side in two rows
TITLES = {"step": "step", "ramp": "behind a ramp", "hold": "under its weight"}
KEYS = "settling", "steady_error", "damping_ratio", "unstable_above", "ramp_error", "error"


def figure(value: float | None) -> str:
    """Return a number as text; a dash where there is none."""
    return "-" if value is None else f"{value if abs(value) > TINY else 0.0:.3g}"


def lines(result: Mapping[str, Any]) -> list[RenderableType]:
    """Return what to print: a table a joint, then what differs, the matches, what is left out."""
    tables, alike = dict[str, Any](), dict[str, list[str]]()
    headings = "over", "settles", "droop", "ratio", "up to kp", "behind", "error"
    for row, seen in zip(result["joints"], result["shown"], strict=True):
        name, who = row["name"], (row["engine"], row["mode"])
        if name not in tables:
            tables[name] = make_table("engine", "mode", *headings, title=name, words=("mode",))
        over = "lost" if row["overshoot"] is None else f"{100.0 * row['overshoot']:.2f} %"
        tables[name].add_row(*who, over, *(figure((row | seen)[key]) for key in KEYS))
        named = seen["differences"].items()
        text = ", ".join(f"{k} {v if isinstance(v, str) else f'{v:+.3g}'}" for k, v in named)
        if text:
            alike.setdefault(f"{' '.join(who)}: {text}", []).append(name)
    out = [f"{k} ({', '.join(v)})" if len(v) < len(tables) else k for k, v in alike.items()]
    for match in result["match"]:
        errors = f"{figure(match['error_before'])} -> {figure(match['error_after'])}"
        mode = f" mode {match['mode']} with" if "mode" in match else ""
        out.append(f"{match['to']} as {match['from']}: error {errors}, by{mode}")
        for name, gains in match["gains"].items():
            gains = gains | {k: match[k][name] for k in ("armature",) if name in match.get(k, ())}
            out.append(f"  {name}: {', '.join(f'{k} {v:.5g}' for k, v in gains.items())}")
    out += [f"left out: {reason}" for reason in result["refused"]]
    return [*tables.values(), *map(Text, out)]


def draw(responses: Responses, joint: str, unit: str, path: Path) -> None:
    """Write the picture of a joint; below are differences from the exact response.

    Raises:
        AccordError: if the file cannot be written.
    """
    with picture(path, SIZE, nrows=2, ncols=len(TITLES), sharex=True) as axes:
        for (above, below), (key, title) in zip(axes.T, TITLES.items(), strict=True):
            exact = dict[str, Any]()
            for (engine, mode), curves in responses.curves[joint].items():
                curve = curves[key]
                time = np.arange(len(curve)) * responses.setup.scenario.control_period
                values, label = RAMP * time - curve if key == "ramp" else curve, f"{engine} {mode}"
                color, width = ("0.6", 3.0) if engine in (EXACT, REFERENCE) else (None, 1.0)
                (line,) = above.plot(time, values, color=color, linewidth=width, label=label)
                exact.setdefault(mode, curve)  # the exact response is the first one
                if len(curve) == len(exact[mode]):
                    below.plot(time, curve - exact[mode], color=line.get_color(), linewidth=1.0)
            above.set(title=title)
            below.set(xlabel="time [s]")
        axes[0, 0].set(ylabel=f"{joint} [{unit}]")
        axes[1, 0].set(ylabel=f"from the exact one [{unit}]")
        legend(axes[0, 0], columns=6)
