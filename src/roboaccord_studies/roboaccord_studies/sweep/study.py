"""The result of a sweep: statistics of a figure of a scenario over many seeds.

It includes everything on which the result depends. Fields are keys of the JSON of `accord sweep`;
they stay, and others may be added with a default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from roboaccord.contract import IF_ANY, Json, Shown
from roboaccord.run import UNITS, Cell, make_simulator, versions_of
from roboaccord.scenario import Setup


@dataclass(frozen=True, kw_only=True)
class Study(Shown):
    """A sweep, with all that its result depends on.

    Args:
        robot, scenario: names of robot and scenario.
        figure, unit: name and unit of what was measured.
        seeds: number of runs in each cell.
        cells: results for each engine and physics step.
        scenario_data: all keys of the scenario.
        versions: versions of the software.
        command: command line that repeats the sweep.
        report: page that shows the sweep, or None before it is written.
    """

    robot: str
    scenario: str
    figure: str
    unit: str
    seeds: int
    cells: Sequence[Cell]
    scenario_data: Mapping[str, Json]
    versions: Mapping[str, str]
    command: str
    report: Path | None = field(default=None, metadata=IF_ANY)

    @classmethod
    def of(
        cls, setup: Setup, figure: str, seeds: int, cells: Sequence[Cell], command: str
    ) -> Study:
        """Return the study that a command made."""
        engines = dict.fromkeys(cell.engine for cell in cells)
        versions = versions_of(setup, [make_simulator(setup, engine) for engine in engines])
        return cls(
            robot=setup.robot.name,
            scenario=setup.scenario.name,
            figure=figure,
            unit=UNITS.get(figure, ""),
            seeds=seeds,
            cells=cells,
            scenario_data=setup.scenario.data(),
            versions=versions,
            command=command,
        )
