"""Show the result of `accord servo`: a table of joints in engines, and one of matches."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.console import file_line, make_table

from roboaccord_files.servo.result import Servos


def figure(value: float | None, digits: int = 3) -> str:
    """Return a number as text; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}g}"


def named(differences: Mapping[str, float | str]) -> str:
    """Return differences in words."""
    texts = []
    for key, value in differences.items():
        size = value if isinstance(value, str) else f"{value:+.3g}"
        texts.append(f"{key} {size}")
    return ", ".join(texts) or "-"


def lines(servos: Servos, files: list[str]) -> list[RenderableType]:
    """Return the tables and lines to print."""
    answers = make_table(
        "joint", "engine", "mode", "over", "settles", "droop", "ratio", "up to kp", "error",
        words=("engine", "mode"),
    )  # fmt: skip
    shown = {(row.name, row.engine, row.mode): row for row in servos.shown}
    before = ""
    for row in servos.joints:
        error = shown[row.name, row.engine, row.mode].error
        answers.add_row(
            "" if row.name == before else row.name, row.engine, row.mode,
            "lost" if row.overshoot is None else f"{100.0 * row.overshoot:.2f} %",
            figure(row.settling), figure(row.steady_error), figure(row.damping_ratio),
            figure(row.unstable_above), figure(error, 2),
        )  # fmt: skip
        before = row.name
    out: list[RenderableType] = [answers]
    out += [
        Text(f"{row.name} in {row.engine} {row.mode}: {named(row.differences)}")
        for row in servos.shown
        if row.differences
    ]
    if servos.match:
        matches = make_table("from", "to", "joint", "gains", "before", "after", words=("to", "joint"))
        for match in servos.match:
            head = match.origin, match.to
            tail = figure(match.error_before, 2), figure(match.error_after, 2)
            for name, gains in match.gains.items():
                text = " ".join(f"{key} {value:.5g}" for key, value in gains.items())
                matches.add_row(*head, name, text, *tail)
                head, tail = ("", ""), ("", "")
        out.append(matches)
    out += [Text(f"left out: {reason}") for reason in servos.refused]
    return [*out, file_line(files)] if files else out
