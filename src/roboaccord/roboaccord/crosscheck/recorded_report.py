"""What the cross-check of one run finds, from its bag or while it runs.

Keys of `RecordedReport.to_json` are printed by `--json` and published with the live verdict: they
stay. The sentence of the verdict may be reworded in `line`. What is found is decided in
step_check.py and recorded.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from roboaccord.contract.outcome import Finding, Levels, verdict_of
from roboaccord.contract.results import Json, Quantity, Shown, to_json
from roboaccord.crosscheck.causes.resolution import Resolved


@dataclass(frozen=True)
class RecordedReport(Shown):
    """Hold the result of the cross-check of a recorded run.

    Args:
        levels: the findings, `levels.one_step["dart"]`; `scheme` of a bag alone, `drive` where
            commands are recorded.
        ticks: number of control periods; of a run that goes on, by now.
        compared: of these.
        left_out: with an event (impact, stop, switch), which no scheme places inside a step, or
            from a state that the reference cannot take, as beside its terrain.
        skipped: of which a sample is missing.
        delay: control periods by which efforts act late.
        rms, max: error of the joints' rates, or without joints of the base's turning.
        relative: rms error, less that of the engine's twin, over the rms change of the rates, of
            the joints or of the base's turning, whichever exceeds what is allowed by more.
        allowed: of that.
        resolution: smallest errors that level `scheme` would have found.
    """

    levels: Levels
    ticks: int
    compared: int
    left_out: int
    skipped: int
    delay: int
    rms: Annotated[float, Quantity("rad/s", "rms error of a control period")]
    max: Annotated[float, Quantity("rad/s", "largest error of a control period")]
    relative: Annotated[float, Quantity("1", "share of the change")]
    allowed: Annotated[float, Quantity("1", "share of the change that is allowed")]
    resolution: Sequence[Resolved] = ()

    @property
    def finding(self) -> Finding:
        """What was found at level 2."""
        (found,) = self.levels.one_step.values()
        return found

    @property
    def ok(self) -> bool:
        """False where the run is outside at a level."""
        found = [each for level in self.levels.checked().values() for each in level.values()]
        return all(each.outcome != "outside" for each in found)

    def to_json(self) -> dict[str, Json]:
        """Return the figures that `--json` prints."""
        apart = ("levels", "resolution")
        figures = {name: value for name, value in vars(self).items() if name not in apart}
        there = self.levels.drive or self.levels.scheme
        more = {name: to_json(getattr(self, name)) for name in apart if there}
        return {"outcome": self.finding.outcome, "reason": self.finding.reason, **figures, **more}

    def line(self) -> str:
        """Return the verdict in one line."""
        others = [*self.levels.drive.values(), *self.levels.scheme.values()]
        words = "undecided: " if verdict_of([self.finding, *others]) == "undecided" else ""
        words += f"one step {self.finding.outcome.replace('_', ' ')}: "
        words += f"{100 * self.relative:.3g} % of the change, allowed {100 * self.allowed:.3g} %"
        words += f"; {self.compared} of {self.ticks} ticks compared, {self.left_out} left out"
        words += f", {self.skipped} skipped, delay {self.delay} ticks"
        words += f"; {self.finding.reason}" if self.finding.reason else ""
        for each in others:
            words += f"; {each.level} {each.outcome.replace('_', ' ')}"
            words += f": {each.reason}" if each.reason else ""
        return words
