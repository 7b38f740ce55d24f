"""Show the result of `accord servo`: a table of joints in engines, and one of matches."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.console import file_line, make_table

from roboaccord_files.servo.result import Match, Servos

TINY = 1e-15  # a smaller number is round-off


def figure(value: float | None, digits: int = 3) -> str:
    """Return a number as text; a dash where there is none."""
    return "-" if value is None else f"{value if abs(value) > TINY else 0.0:.{digits}g}"


def named(differences: Mapping[str, float | str]) -> str:
    """Return differences in words."""
    texts = []
    for key, value in differences.items():
        size = value if isinstance(value, str) else f"{value:+.3g}"
        texts.append(f"{key} {size}")
    return ", ".join(texts) or "-"


def lines(servos: Servos, files: list[str]) -> list[RenderableType]:
    """Return the tables and lines to print: a table a joint, differences, and matches."""
    out: list[RenderableType] = [
        answers_of(servos, name) for name in dict.fromkeys(row.name for row in servos.joints)
    ]
    alike: dict[str, list[str]] = {}
    for row in servos.shown:
        if row.differences:
            alike.setdefault(f"{row.engine} {row.mode}: {named(row.differences)}", []).append(row.name)
    joints = len({row.name for row in servos.joints})
    for text, names in alike.items():
        out.append(Text(text if len(names) == joints else f"{text} ({', '.join(names)})"))
    for match in servos.match:
        out += matches_of(match)
    out += [Text(f"left out: {reason}") for reason in servos.refused]
    return [*out, file_line(files)] if files else out


def answers_of(servos: Servos, name: str) -> RenderableType:
    """Return the table of a joint."""
    headings = "over", "settles", "droop", "ratio", "up to kp", "behind", "error"
    table = make_table("engine", "mode", *headings, title=name, words=("mode",))
    shown = {(row.engine, row.mode): row for row in servos.shown if row.name == name}
    for row in (row for row in servos.joints if row.name == name):
        seen = shown[row.engine, row.mode]
        over = "lost" if row.overshoot is None else f"{100.0 * row.overshoot:.2f} %"
        numbers = row.settling, row.steady_error, row.damping_ratio, row.unstable_above
        rest = map(figure, (*numbers, seen.ramp_error))
        table.add_row(row.engine, row.mode, over, *rest, figure(seen.error, 2))
    return table


def matches_of(match: Match) -> list[RenderableType]:
    """Return a line with the errors of a match, and one for the gains of each joint."""
    errors = f"{figure(match.error_before, 2)} -> {figure(match.error_after, 2)}"
    out: list[RenderableType] = [Text(f"{match.to} as {match.origin}: error {errors}, by")]
    for name, gains in match.gains.items():
        out.append(Text(f"  {name}: {', '.join(f'{k} {v:.5g}' for k, v in gains.items())}"))
    return out
