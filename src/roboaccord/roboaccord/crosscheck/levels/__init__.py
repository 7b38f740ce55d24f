"""The levels of the cross-check, one file each, in the order in which they are measured and shown.

A level compares a physics engine in one respect with the reference (the analytical model of the
robot), with its twin (our equations of motion under the engine's integration scheme) or with
itself; its interface is in ../level.py. run.py measures and judges all of LEVELS in turn.

To add a level, write its file and enter it in LEVELS, after those whose checks it reads. What the
larger levels measure is in ../measures, and tests are in src/roboaccord/test. Names of levels and
rows are keys of scenarios, `--json` and summary.json, and stay.
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
    AccelerationLevel(),  # model and accelerations, against the reference
    DriveLevel(),  # efforts in force, against the commanded ones
    SchemeLevel(),  # single control periods, against the twin
    RepeatLevel(),  # the same run again
    InvarianceLevel(),  # the same run in a rotated, mirrored or shifted world
    OneStepLevel(),  # single control periods, against the reference
    TrajectoryLevel(),  # whole trajectories, against the reference
    StatisticsLevel(),  # statistics over seeds of a chaotic motion, in place of trajectories
    EventsLevel(),  # stops, contacts and switches, against the reference
    EnergyLevel(),  # the energy book of the run
)
