"""A robot in an engine, on which one joint moves under a servo while the others are held.

`Rig` makes the simulator and runs short motions in it. Step and ramp are without gravity, so that
the motion is linear: about one axis the inertia does not depend on the angle. The weight acts in
the run that holds a pose. Where nothing is held, all joints are under their servos.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from roboaccord.contract import AccordError, Array, Command, RobotState
from roboaccord.description import bodies
from roboaccord.description.urdf_file import strip
from roboaccord.engines import (
    REFERENCE,
    EngineModel,
    EngineSimulator,
    MujocoSettings,
    simulate_model,
    spec,
)
from roboaccord.robots.joint_friction import friction_of
from roboaccord.robots.urdf_changes import without_frames
from roboaccord.scenario import Setup
from roboaccord.simulators.reference import TreeReference

from roboaccord_files.servo.law import Servo

# MuJoCo's own integrator is Runge-Kutta 4 here; with servos it is used with this one.
OWN_OPTIONS = {"integrator": "implicitfast"}
LOST = 1e3  # a joint that is so many starts away is lost, and the run ends


class ServoReference(TreeReference):
    """The reference of a robot with servos in continuous time, as springs and dampers.

    Args:
        setup: robot and scenario.
        armature: added inertia of rotors (n,).
    """

    def __init__(self, setup: Setup, armature: Array) -> None:
        law = friction_of(setup)
        super().__init__(setup, law)
        self._added, self._viscous = armature, law.viscous if law else 0.0 * armature
        self._rows = {int(joint): i for i, joint in enumerate(self._dynamics.arrays[0][:, 2])}
        for joint in range(len(self.joints)):
            self.lock(joint, False)

    def lock(self, joint: int, locked: bool) -> None:
        """Hold a joint, or release it to its rotor."""
        super().lock(joint, locked)
        if not locked:
            for dynamics in (self._smooth, self._dynamics):
                dynamics.lock(joint, float(self._added[joint]))

    def drive(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Drive a joint by a spring and a damper; the file's own damper stays."""
        columns = [bodies.STIFFNESS, bodies.SLACK_POSITION, bodies.VISCOUS]
        values = stiffness, target, damping + float(self._viscous[joint])
        self._dynamics.arrays[1][self._rows[joint], columns] = values


@dataclass(frozen=True)
class Rig:
    """A robot in an engine.

    Args:
        setup: robot and scenario.
        start: positions of the joints (n,), at rest.
        engine: name.
        own: whether its own servos drive the joints.
        armature: added inertia of rotors (n,).
        held: whether all joints but one are held.
    """

    setup: Setup
    start: Array
    engine: str
    own: bool
    armature: Array
    held: bool = True
    _locked: set[int] = field(default_factory=set, init=False, compare=False)

    @cached_property
    def simulator(self) -> EngineSimulator | ServoReference:
        """The simulator, without limits of efforts."""
        setup = self.setup
        if self.engine == REFERENCE:
            return ServoReference(setup, self.armature)
        options: dict[str, Mapping[str, Any]] = dict(setup.scenario.engine_options)
        if self.own and issubclass(spec(self.engine).settings, MujocoSettings):
            options[self.engine] = {**OWN_OPTIONS, **options.get(self.engine, {})}
        model = EngineModel.of(
            setup,
            urdf=without_frames(strip(setup.urdf())),
            friction=friction_of(setup),
            effort_limits=np.full(len(setup.joints), np.inf),
            armature=self.armature,
            servos=self.own,
            options=options,
        )
        return simulate_model(model, self.engine)

    def respond(
        self, joint: int, servos: Sequence[Servo], targets: Array, offset: float = 0.0
    ) -> Array:
        """Return the positions of a joint (k + 1,), relative to the start, under its targets (k,).

        They end where the joint is lost, because its servo is unstable.

        Args:
            joint: its number; the others are held, or at their start under their servos.
            servos: of all joints, in one mode and with one delay.
            targets: of the joint, relative to the start.
            offset: of the joint's position at the start.

        Raises:
            AccordError: for an engine that has no servo of its own, or cannot hold joints.
        """
        simulator, setup, n = self.simulator, self.setup, len(servos)
        self._hold({i for i in range(n) if self.held and i != joint})
        moved, at_rest, first = np.array(self.start), np.zeros(n), setup.initial
        moved[joint] += offset
        state = simulator.reset(
            RobotState(0.0, moved, at_rest, at_rest, first.position, first.orientation)
        )
        commands = _Commands(servos, self.start, [joint] if self.held else [*range(n)])
        out, limit = [offset], LOST * (max(abs(offset), float(np.abs(targets).max())) or 1.0)
        for target in targets:
            aims = np.array(self.start)
            aims[joint] += target
            if self.own:
                effort = at_rest
                for i, servo, aim in commands.late_targets(aims):
                    simulator.drive(i, servo.kp, servo.kd, aim)
            else:
                effort = commands.late_efforts(aims, state)
            try:
                state = simulator.step(Command(effort), setup.scenario.control_period)
            except AccordError:  # of a state that is not finite
                break
            out.append(float(state.q[joint] - self.start[joint]))
            if not abs(out[-1]) < limit:
                break
        return np.array(out)

    def _hold(self, joints: set[int]) -> None:
        """Hold these joints alone."""
        for joint in self._locked ^ joints:
            self.simulator.lock(joint, joint in joints)
        self._locked.clear()
        self._locked.update(joints)


class _Commands:
    """Targets and efforts of servos, late by their delays.

    Args:
        servos: of all joints.
        start: positions (n,), where targets are before the first.
        driven: numbers of the joints with a servo.
    """

    def __init__(self, servos: Sequence[Servo], start: Array, driven: Sequence[int]) -> None:
        self._servos, self._driven = servos, driven
        self._targets = [np.array(start)] * servos[driven[0]].delay
        self._efforts = [np.zeros(len(servos))] * servos[driven[0]].delay

    def late_targets(self, aims: Array) -> list[tuple[int, Servo, float]]:
        """Return number, servo and target of the driven joints, for new targets (n,)."""
        self._targets.append(aims)
        late = self._targets.pop(0)
        return [(i, self._servos[i], float(late[i])) for i in self._driven]

    def late_efforts(self, aims: Array, state: RobotState) -> Array:
        """Return the efforts (n,) to apply, for new targets (n,) in a state."""
        effort = np.zeros(len(self._servos))
        for i in self._driven:
            error = float(aims[i] - state.q[i])
            effort[i] = self._servos[i].effort_at(error, float(state.qd[i]))
        self._efforts.append(effort)
        return self._efforts.pop(0)
