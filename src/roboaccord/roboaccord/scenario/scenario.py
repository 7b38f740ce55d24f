"""Scenarios as checked data: keys, types, defaults and tolerances.

`Scenario` and its sections are pydantic models: a key is a field with type, unit and default, and
its meaning is the line under `Args:`, which `accord scenario` prints. A key may be added with a
default; `--set`, the list of keys and the checks then have it, too. The models use only what
pydantic 1 and 2 have in common, as ROS machines have either.

Existing names are in files of users and in bags, and stay. A changed default changes every scenario
that leaves it out. A tolerance states its source; a looser one belongs into a scenario, with a
reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

from roboaccord.contract.profiles import entry_of
from roboaccord.contract.results import (
    Json,
    Kilograms,
    Metres,
    Quantity,
    Radians,
    RadiansPerSecond,
    Seconds,
)
from roboaccord.description.base_kinds import Base

# Default and largest tolerance of one step, relative to the change of rates in it: descriptions
# hardly know a number to 0.1 %. What exceeds it may still fall with the physics step.
ONE_STEP = 1e-3
Twist = Annotated[tuple[float, float, float, float, float, float], Quantity("m/s, rad/s")]


class Initial(BaseModel, extra="forbid", frozen=True):
    """Initial state of a run: joints, the base, and switches.

    Args:
        q: angles by joint.
        qd: rates by joint.
        position: of the base, x, y, z.
        roll, pitch, yaw: about the world's fixed axes, in that order, as in URDF.
        twist: of the base, linear then angular, in its own axes.
        switches: on or off, by name.
        spread_q: largest deviation of each joint's angle at the start, drawn uniformly by seed.
    """

    q: dict[str, Radians] = {}
    qd: dict[str, RadiansPerSecond] = {}
    position: tuple[Metres, Metres, Metres] = (0.0, 0.0, 0.0)
    roll: Radians = 0.0
    pitch: Radians = 0.0
    yaw: Radians = 0.0
    twist: Twist = (0.0,) * 6
    switches: dict[str, bool] = {}
    spread_q: Radians = Field(0.0, ge=0, lt=float("inf"))


class BodySpec(BaseModel, extra="forbid", frozen=True):
    """A free body beside the robot: a box, a cylinder or a convex mesh of uniform density.

    Args:
        size: of a box, along its x, y and z.
        radius, height: of a cylinder about its z.
        file: of a convex mesh, OBJ or STL in metres.
        mass: of the body.
        position: of the box's or cylinder's centre, or of the mesh's origin.
        roll, pitch, yaw: about the world's fixed axes, in that order, as in URDF.
        twist: linear, of the centre of mass, then angular, in its own axes.
        friction: coefficient; that of a pair is the smaller one. By default that of the scenario.
    """

    size: tuple[Metres, Metres, Metres] | None = None
    radius: Metres | None = Field(None, gt=0)
    height: Metres | None = Field(None, gt=0)
    file: str | None = None
    mass: Kilograms = Field(gt=0)
    position: tuple[Metres, Metres, Metres] = (0.0, 0.0, 0.0)
    roll: Radians = 0.0
    pitch: Radians = 0.0
    yaw: Radians = 0.0
    twist: Twist = (0.0,) * 6
    friction: float | None = Field(None, ge=0)


class Allowance(BaseModel, extra="forbid", frozen=True):
    """A tolerance that is looser than its default, with the reason why.

    Args:
        limit: in the unit of the tolerance.
        reason: why.
        period: control period for which a limit of one step is given. The reference corrects
            rates that it cannot have, such as those along a facet, at once: in a shorter period
            that is a larger share of their change.
    """

    limit: float = Field(gt=0, lt=math.inf)
    reason: str = Field(min_length=1)
    period: Seconds | None = Field(None, gt=0)

    def at(self, control_period: float) -> float:
        """Return the limit at a control period [s]; with `period` it grows as that shrinks."""
        return self.limit * (self.period or control_period) / control_period


def limit_of(tolerance: float | Allowance) -> float:
    """Return the limit of a tolerance, whether it is a number or has a reason."""
    return tolerance.limit if isinstance(tolerance, Allowance) else tolerance


class Tolerances(BaseModel, extra="forbid", frozen=True):
    """Tolerances of the cross-check. Each default names its source.

    A plain number tightens a default; `{limit: NUMBER, reason: TEXT}` loosens it.

    Args:
        acceleration: relative; round-off of a forward-dynamics solve of a long chain.
        mass: relative, of any link.
        one_step: error of one control period, relative to the change; above it the error must
            fall with the physics step by the engine's order, less `one_step_order`.
        one_step_order: what the order of one step may lack.
        order: share of the expected order of convergence that the observed one may lack.
        trajectory: largest distance of any link at the scenario's physics step, by engine.
        level: of levels that other packages add, by name, in the unit of each.
    """

    # Half the digits of a double, sqrt(2^-52) = 1.5e-8. Round-off of a forward-dynamics solve is of
    # the size of n u times the condition of the mass matrix [Higham 2002, chapter 10]: 2e-9 of the
    # snake, with n = 24 and 7e5. Largest measured, of all scenarios and 65 files of
    # example-robot-data 6.0.0 in DART and MuJoCo: 2.6e-9, the snake in MuJoCo.
    acceleration: float = Field(1e-8, gt=0, le=1e-8)
    # By choice: the six digits to which MuJoCo writes a description.
    mass: float = Field(1e-6, gt=0, le=1e-6)
    one_step: float | Allowance = Field(ONE_STEP)
    # The slope of log error over three steps if the next power of h, of the other sign, is 41 % of
    # the error at the largest: below ASYMPTOTIC_SHARE (crosscheck/extrapolation.py), 50 %.
    one_step_order: float = Field(0.3, gt=0, le=0.3)
    # An order within a tenth counts as the scheme's [Oberkampf and Roy 2010, chapter 8]: likewise a
    # next power of 17 % at order 1, of 50 % at order 4.
    order: float = Field(0.1, gt=0, le=0.1)
    trajectory: dict[str, Annotated[Metres, Field(gt=0, lt=math.inf)] | Allowance] = {}
    level: dict[str, float] = {}

    def of(self, engine: str) -> float | Allowance | None:
        """Return the tolerance of an engine's trajectories; None without one."""
        return entry_of(self.trajectory, engine)

    def at(self, control_period: float) -> Tolerances:
        """Return the tolerances at a control period [s], which that of one step may depend on."""
        if not isinstance(self.one_step, Allowance):
            return self
        limit, reason = self.one_step.at(control_period), self.one_step.reason
        return self.model_copy(update={"one_step": Allowance(limit=limit, reason=reason)})

    def to_json(self) -> Mapping[str, Json]:
        """Return the tolerances as plain data."""
        return self.model_dump()


class StatisticsSpec(BaseModel, extra="forbid", frozen=True):
    """Comparison of a sensitive motion by the median of a figure over seeds.

    Args:
        figure: name of a figure of the run.
        seeds: number of runs of each engine.
        allowance: difference of the medians, in the figure's unit, that is allowed beside what the
            physics step makes; 0 for none.
    """

    figure: str
    seeds: int = Field(20, ge=3)
    allowance: float = Field(0.0, ge=0)


class CrosscheckSpec(BaseModel, extra="forbid", frozen=True):
    """Settings of the cross-check.

    Args:
        duration: length of the runs that are judged.
        states: number of random states of level 1.
        statistics: marks the motion as chaotic: engines are compared by a figure's median over
            seeds, in runs of the scenario's duration, and not by steps and trajectories.
        tolerances: of the levels.
        resolution: error, as a share of any parameter, that must not go unnoticed; None for none.
        excuse: by level and engine, why its findings do not count against the engine: `dart` with
            any settings, `dart (default)` or `dart (expert)` with those of one profile.
    """

    duration: Seconds = Field(5.0, gt=0)
    states: int = Field(100, ge=1)
    statistics: StatisticsSpec | None = None
    tolerances: Tolerances = Tolerances()
    resolution: float | None = Field(None, gt=0)
    excuse: dict[str, dict[str, str]] = {}


class Scenario(BaseModel, extra="forbid", frozen=True):
    """One experiment, complete: with the versions of the engines it can be repeated exactly.

    Args:
        robot: name of the robot, or the path of its URDF or xacro file.
        packages: folders of ROS packages by name, for a robot that is a file.
        arguments: of a xacro file, by name.
        name: of the scenario, from its file.
        description: one line for `accord list`.
        base: how `base_link` is tied to the world; a ball turns about its centre, which stays.
        world: name of the world for Gazebo, where the robot makes none of its terrain.
        terrain: what stands around the robot, in the words of the robot's package.
        bodies: free bodies beside the robot, by name.
        parameters: changes to the robot's physical parameters.
        initial: the state to start from.
        faults: joints that fail, each as JOINT=KIND@S (docs/faults.md); the last of a joint counts.
        controller: `name`, and the controller's parameters beside it; `friction` is what it assumes
            of the friction, a `law` with its parameters or changes of the scenario's.
        friction: `law`, and the law's parameters beside it.
        duration: length of a run.
        driven: whether a person drives it: a launch then paces it, and runs it until Ctrl-C.
        control_period: time for which a command is held.
        physics_step: step of the simulators, which divides the control period.
        seed: of all that is random.
        engine_options: by engine, such as `integrator` of MuJoCo.
        crosscheck: lengths and tolerances of the cross-check.
    """

    robot: str
    packages: dict[str, str] = {}
    arguments: dict[str, str] = {}
    name: str = ""
    description: str = ""
    base: Base = "fixed"
    world: str = "flat"
    terrain: dict[str, Any] = {}
    bodies: dict[str, BodySpec] = {}
    parameters: dict[str, float | int] = {}
    initial: Initial = Initial()
    faults: tuple[str, ...] = ()
    controller: dict[str, Any] = {"name": "none"}
    friction: dict[str, Any] = {"law": "none"}
    duration: Seconds = Field(10.0, gt=0)
    driven: bool = False
    control_period: Seconds = Field(0.001, gt=0)
    physics_step: Seconds = Field(0.001, gt=0)
    seed: int = Field(0, ge=0)
    engine_options: dict[str, dict[str, Any]] = {}
    crosscheck: CrosscheckSpec = CrosscheckSpec()

    @property
    def judged(self) -> float:
        """Length of the run that a cross-check judges [s], a whole number of control periods."""
        length = min(self.crosscheck.duration, self.duration)
        return max(1, round(length / self.control_period)) * self.control_period

    def data(self) -> dict[str, Any]:
        """Return the scenario as plain data, as it would stand in a file."""
        return self.model_dump()
