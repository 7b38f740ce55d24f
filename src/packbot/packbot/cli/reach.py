"""`accord packbot reach`: a reach whose joints may fail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import RenderableType
from roboaccord.cli.command import Result, used_by
from roboaccord.cli.console import ProgressObserver, progress
from roboaccord.cli.gathering import gathers
from roboaccord.cli.options import Changes, Engine, Faults, Seed, load_setup
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.results import Metres, Quantity, Ratio, Seconds
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from packbot.cli.options import ScenarioName, Target, point

CONTROLLERS = ("recover", "ignore")


@gathers("--target")
def reach_command(
    target: Target,
    faults: Faults = None,
    engine: Engine = "reference",
    controller: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="recover; or ignore, the healthy arm's, which knows nothing of failures.",
        ),
    ] = "recover",
    scenario: ScenarioName = "reach",
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Reach for a target, and when joints fail, with those that are left.

    The controller finds failures by itself, from joint states and its efforts. It stops, swaps the
    model and plans a new way: free of collision, within the limits of effort, loose joints hanging
    or lying on something. Where there is none it says why, and goes to the nearest point that has
    one. A start that a frozen joint brings into collision gives way to the nearest that is clear.

    Examples:

      accord packbot reach --target 0.9 0 0.6 --fault elbow1=frozen:0.4

      accord packbot reach --target 1.2 0.3 0.15 --fault elbow2=loose@1.5 --engine dart

      accord packbot reach --target 1.2 0.3 0.15 --fault shoulder=frozen@2 --controller ignore
    """
    if controller not in CONTROLLERS:
        raise AccordError(f"unknown controller {controller}{did_you_mean(controller, CONTROLLERS)}")
    given = load_setup("packbot", scenario, [*(changes or []), f"seed={seed}"], faults)
    found, setup = reach(given, target, engine, ignore=controller == "ignore")
    return Result(found, shown_of(found), used=used_by(setup, "control_period", "physics_step"))


@dataclass(frozen=True)
class Noticed:
    """Hold a failure that was found, and how late."""

    joint: str
    kind: str
    delay: Seconds


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Hold how a reach ended, and what was noticed on it."""

    reached: bool
    error: Metres
    reason: str | None
    nearest: Annotated[Array | None, Quantity("m")]
    detected: Noticed | list[Noticed] | None
    path: Annotated[Array, Quantity("m")]
    seen: Ratio
    touched: Sequence[tuple[str, str]]
    load: Ratio
    duration: Seconds
    start: Annotated[Array, Quantity("rad")]

    @property
    def failures(self) -> list[Noticed]:
        """All that was noticed."""
        found = self.detected or []
        return found if isinstance(found, list) else [found]


def reach(given: Setup, words: str, engine: str, *, ignore: bool) -> tuple[Reach, Setup]:
    """Reach for a point, and return what came of it, and the setup with its start."""
    from packbot.source.reaching import LONGEST, clear_start, run_reach

    aim, setup = point(words), clear_start(given)
    with progress() as bar:
        watch = ProgressObserver(bar, f"reach in {engine}", LONGEST)
        found = run_reach(setup, aim, engine, ignore=ignore, observers=[watch])
    began = {fault.joint: fault.time for fault in setup.faults}
    detected = [
        Noticed(each.joint, each.kind, each.time - began.get(each.joint, each.time - each.delay))
        for each in found.detected
    ]
    return Reach(
        reached=found.reached,
        error=found.error,
        reason=found.reason or None,
        nearest=found.nearest,
        detected=detected[0] if len(detected) == 1 else detected or None,
        path=found.path,
        seen=found.seen,
        touched=found.touched,
        load=found.load,
        duration=found.trajectory.time[-1],
        start=setup.initial.q,
    ), setup


def shown_of(found: Reach) -> list[RenderableType]:
    """Return a reach for people."""
    words = "reached" if found.reached else f"not reached: {found.reason}"
    lines: list[RenderableType] = [
        f"{words}; the finger tips ended {1e3 * found.error:.1f} mm from the target, "
        f"after {found.duration:.2f} s"
    ]
    if not found.reached and found.nearest is not None:
        nearest = ", ".join(f"{x:.3f}" for x in found.nearest)
        lines.append(f"nearest point with a way: {nearest} m")
    lines += [
        f"detected: {each.joint} {each.kind}, after {each.delay:.2f} s" for each in found.failures
    ]
    lines.append(f"greatest effort over its limit: {found.load:.2f}")
    lines.append(f"the camera sees {100.0 * found.seen:.0f} % of the target")
    lines += [f"touched: {a} and {b}" for a, b in found.touched]
    return lines
