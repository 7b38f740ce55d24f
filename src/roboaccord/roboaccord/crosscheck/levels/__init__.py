"""Levels of the cross-check, one file each, in the order in which they are measured and shown.

To add a level, write its file and enter it in LEVELS, after those whose checks it reads. How a
level judges and which rows it shows may be changed in its file, with its tests in
src/roboaccord/test (and in the robots' packages); what the larger levels measure is in ../measures.
Names of levels and of rows stay: scenarios, `--json` and summary.json use them.
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
