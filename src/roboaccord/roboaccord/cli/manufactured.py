"""`accord crosscheck --manufactured`: engines against motions whose exact answer is known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import COMPILING, make_table, progress
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.results import quantities, to_json
from roboaccord.crosscheck.manufactured import FollowedMotion, Manufactured, check_manufactured
from roboaccord.run.runner import model_of
from roboaccord.scenario.setup import Setup

FINEST = 4  # physics steps of the table; --json has all
WORDS = {
    "within": ("within", "green"),
    "outside": ("outside", "red"),
    "not_judged": ("not judged", "yellow"),
    "does_not_apply": ("does not apply", "default"),
}
COLOURS = {"pass": "green", "fail": "red", "undecided": "yellow"}


def manufactured_result(
    setup: Setup, engines: Sequence[Engine], refine: int, folder: Path | None
) -> Result:
    """Run the check, and return what a command shows of it.

    Raises:
        AccordError: for a folder, as nothing is written.
    """
    if folder is not None:
        raise AccordError("--manufactured writes no files: leave out --out")
    with progress() as bar:
        task = bar.add_task(COMPILING, total=None)
        found = check_manufactured(
            setup, engines, refine=refine,
            done=lambda engine, dt: bar.update(task, description=f"{engine} {dt:g} s"),
        )  # fmt: skip
    data = to_json(found)
    assert isinstance(data, dict)
    used = used_by(setup, "physics_step") | {"engines": [*{m.engine: 0 for m in found.models}]}
    ok = found.verdict in ("pass", None)
    return Result({**data, **model_of(setup)}, shown_of(found), used=used, ok=ok)


def shown_of(found: Manufactured) -> list[RenderableType]:
    """Return a table with a row for each model, what is not within, and the verdict."""
    shown: list[RenderableType] = []
    judged = [model for model in found.models if model.dt]
    if judged:
        steps = judged[0].dt[-FINEST:]
        table = make_table(
            "engine", *(f"{1e3 * dt:g} ms" for dt in steps), "order", "left", "explained", "",
            title=f"{found.robot} {found.scenario}: largest error on a manufactured motion of "
            f"{found.duration:g} s, rad or m",
            words=["engine", ""],
        )  # fmt: skip
        for model in judged:
            table.add_row(*row_of(model))
        left, bound = (quantities(FollowedMotion)[name].meaning for name in ("left", "bound"))
        versions = {model.engine: f"{model.engine} {model.version}" for model in judged}
        shown += [
            table,
            Text(
                "by physics step, which is the control period too; order: the least of any "
                f"coordinate, from differences; left: {left}; explained: {bound}; contact, faults "
                "and effort limits are left out"
            ),
            Text(", ".join(versions.values())),
        ]
    lines = [
        f"{label_of(model, ', ')}: {WORDS[model.outcome][0]}: {model.reason}"
        for model in found.models if model.reason
    ]  # fmt: skip
    verdict = found.verdict or "none: there is no engine to judge"
    shown.append(Text.assemble("verdict: ", Text(verdict, COLOURS.get(verdict, "default"))))
    return [*shown, *(Padding(Text(line), (0, 0, 0, 2)) for line in lines)]


def row_of(model: FollowedMotion) -> list[str | Text]:
    """Return the cells of a model's row."""
    return [
        label_of(model, "\n"),
        *(f"{error:.1e}" for error in model.error[-FINEST:]),
        f"{model.orders[0]:.2f} of {model.expected_order}" if model.orders else "",
        "" if model.left is None else f"{model.left:.1e}",
        "" if model.bound is None else f"{model.bound:.1e}",
        Text(*WORDS[model.outcome]),
    ]


def label_of(model: FollowedMotion, between: str) -> str:
    """Return the engine, and which of a robot's models it is."""
    return between.join(filter(None, [model.engine, model.model]))
