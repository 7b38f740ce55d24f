"""The levels of the cross-check, one file each, in the order in which they are measured and shown.

Each compares an engine with the reference, or with itself, in one respect: its model and
accelerations; efforts in force; single steps against its twin; the same run again; moved worlds;
single steps and whole trajectories against the reference; statistics over seeds of a chaotic
motion; events; energy. To add a level, write its file and enter it in LEVELS, after those whose
checks it reads. What the larger levels measure is in ../measures, and tests are in
src/roboaccord/test. Names of levels and rows are keys of scenarios, `--json` and summary.json.
"""

from roboaccord.crosscheck.level import AnyLevel
from roboaccord.crosscheck.levels.acceleration import AccelerationLevel
from roboaccord.crosscheck.levels.drive import DriveLevel
from roboaccord.crosscheck.levels.energy import EnergyLevel
from roboaccord.crosscheck.levels.events import EventsLevel
from roboaccord.crosscheck.levels.invariance import InvarianceLevel
from roboaccord.crosscheck.levels.one_step import OneStepLevel
from roboaccord.crosscheck.levels.repeat import RepeatLevel
from roboaccord.crosscheck.levels.scheme import SchemeLevel
from roboaccord.crosscheck.levels.statistics import StatisticsLevel
from roboaccord.crosscheck.levels.trajectory import TrajectoryLevel

LEVELS: tuple[AnyLevel, ...] = (
    AccelerationLevel(), DriveLevel(), SchemeLevel(), RepeatLevel(), InvarianceLevel(),
    OneStepLevel(), TrajectoryLevel(), StatisticsLevel(), EventsLevel(), EnergyLevel(),
)  # fmt: skip
