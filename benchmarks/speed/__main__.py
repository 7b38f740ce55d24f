"""Measure speed beside peers, and write the table and the work-precision diagrams.

    make speed
    make speed SPEED="--only gait --json"
    make speed SPEED="--page docs/speed.md --images docs/images"

One thread, in turns with the peer; rates by processor time unless a row states otherwise.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import platform
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import benchmarks.speed
from benchmarks.speed.rows import SMALL, Measured, Row, measure, spread
from roboaccord.bag.run_facts import distribution_version
from roboaccord.cli.console import log, make_table, out

PACKAGES = (
    "numba", "llvmlite", "numpy", "scipy", "heyoka", "mujoco", "dartpy", "pin", "coal", "rclpy",
    "casadi", "drake", "mujoco-warp", "newton", "warp-lang", "sapien",
)  # fmt: skip
OTHERS = (  # modules that have no rows
    "rows", "precision", "gait_heyoka", "check_cost", "cpp", "tree_loops",
)  # fmt: skip
MODULES = [
    module.name
    for module in pkgutil.iter_modules(benchmarks.speed.__path__)
    if not module.name.startswith("__") and module.name not in OTHERS
]
BEGIN, END = "<!-- table of make speed -->", "<!-- end of the table -->"
HEADINGS = ("problem [rate]", "peer", "this project", "the peer", "ratio", "spread", "to reach")


def main() -> None:
    """Measure what was asked for, and print or write it."""
    parser = argparse.ArgumentParser(prog="make speed", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=MODULES, default=MODULES, help="parts of it")
    parser.add_argument("--repeats", type=int, default=9, help="pairs of passes")
    parser.add_argument("--small", action="store_true", help="one short pair of each row")
    parser.add_argument("--json", action="store_true", help="figures as JSON on stdout")
    parser.add_argument("--page", type=Path, help="page whose table is to be replaced")
    parser.add_argument("--images", type=Path, help="folder for the work-precision diagrams")
    options = parser.parse_args()
    if options.repeats < 1:
        parser.error("--repeats must be 1 at least")
    if options.small:
        options.repeats, os.environ[SMALL] = 0, "1"
    found = []
    for row in rows(options.only):
        log.print(f"measuring {row.name}", highlight=False)
        found.append(measure(row, options.repeats))
    if options.images:
        from benchmarks.speed.precision import draw

        draw(options.images, options.repeats)
    where = machine()
    report = {"machine": where, "rows": [as_json(one) for one in found]}
    if options.json:
        sys.stdout.write(json.dumps(report, indent=1) + "\n")
    else:
        show(found)
    if not found:
        raise SystemExit("no row can be measured here: the lines above say what is not installed")
    if options.page:
        write_page(options.page, found, where)
    if any(one.failure for one in found):
        raise SystemExit(1)


def rows(modules: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of modules; where one can make no more of them, a row that fails."""
    for name in modules:
        try:
            yield from importlib.import_module(f"benchmarks.speed.{name}").rows()
        except (Exception, SystemExit) as error:  # noqa: BLE001
            yield Row(f"further rows of {name}", "", partial(fail, error), None, "")


def fail(error: BaseException) -> NoReturn:
    """Raise an error."""
    raise error


def machine() -> dict[str, Any]:
    """Return processor, system and versions."""
    named = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    versions = ((name, distribution_version(name)) for name in PACKAGES)
    return {
        "processor": named[1] if named else platform.processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "versions": {name: each for name, each in versions if each != "unknown"},
    }


def as_json(one: Measured) -> dict[str, Any]:
    """Return a row's figures: rates pass by pass, quartiles, and the ratio pair by pair."""
    names = ("name", "unit", "peer_name", "target", "target_ratio")
    of_row = {name: getattr(one.row, name) for name in names}
    ratio = spread(one.ratios) if one.peer else None
    measured = {"ours": one.ours, "peer": one.peer, "ratio": ratio}
    return {**of_row, **measured, "reached": one.reached, "failure": one.failure}


def cells(one: Measured) -> tuple[str, ...]:
    """Return a row of the table, in the order of `HEADINGS`."""
    row, name = one.row, f"{one.row.name} [{one.row.unit}]"
    if one.failure:
        return name, row.peer_name, "failed", "", "", one.failure, ""
    low, middle, high = spread(one.ours)
    targets = [] if row.target is None else [figure(row.target)]
    targets += [] if row.target_ratio is None else [f"{row.target_ratio:.3g} x"]
    mark = {True: ": yes", False: ": no", None: ""}[one.reached]
    peer, ratio, between = "", "", f"{figure(low)} to {figure(high)}"
    if one.peer:
        peer = figure(spread(one.peer)[1])
        ratio_low, ratio_middle, ratio_high = map(figure, spread(one.ratios))
        ratio, between = ratio_middle, f"{ratio_low} to {ratio_high}"
    wanted = ", ".join(targets) + mark
    return name, row.peer_name, figure(middle), peer, ratio, between, wanted


def figure(rate: float) -> str:
    """Return a rate with three digits."""
    return f"{float(f'{rate:.3g}'):,.10g}"


def show(found: list[Measured]) -> None:
    """Print the table."""
    table = make_table(*HEADINGS, text=(HEADINGS[0], "peer", "spread", "to reach"))
    for one in found:
        table.add_row(*cells(one))
    out.print(table)


def write_page(page: Path, found: list[Measured], where: dict[str, Any]) -> None:
    """Replace the table of a page, between its two comments."""
    text = page.read_text()
    if BEGIN not in text or END not in text:
        raise SystemExit(f"{page} has no lines {BEGIN} and {END}")
    lines = [HEADINGS, ("---",) * len(HEADINGS), *(cells(one) for one in found)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    versions = ", ".join(f"{name} {number}" for name, number in where["versions"].items())
    words = (
        f"{where['processor']}, {where['cores']} cores, load {where['load']}. {versions}. Median "
        f"of {max(len(one.ours) for one in found)} pairs; spread: quartiles of the ratio, or of "
        "the rate alone."
    )
    head, _, rest = text.partition(BEGIN)
    page.write_text(f"{head}{BEGIN}\n{table}\n\n{words}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
