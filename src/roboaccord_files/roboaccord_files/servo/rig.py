"""A robot in an engine, on which one joint moves under a servo while the others are held.

Step and ramp are run without gravity, so that the motion is linear: about one axis the inertia does
not depend on the angle. The weight acts in the run that holds a pose. Where nothing is held, all
joints are under their servos.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from roboaccord import engines
from roboaccord.contract import AccordError, Array, Command, RobotState
from roboaccord.description.urdf_file import strip
from roboaccord.robots.joint_friction import friction_of
from roboaccord.robots.urdf_changes import without_frames
from roboaccord.scenario import Setup
from roboaccord.simulators.reference import TreeReference

from roboaccord_files.servo.linear import Servo, effort_of

LOST = 1e3  # a joint that is so many starts away is lost, and the run ends


@dataclass(frozen=True)
class Rig:
    """A robot in an engine.

    Args:
        setup: robot and scenario.
        engine: name.
        own: whether its own servos drive the joints.
        armature: added inertia of rotors (n,).
        held: whether all joints but one are held.
    """

    setup: Setup
    engine: str
    own: bool
    armature: Array
    held: bool = True

    @cached_property
    def simulator(self) -> engines.EngineSimulator | TreeReference:
        """The simulator, without limits of commanded efforts."""
        setup, law = self.setup, friction_of(self.setup)
        unlimited = np.full(len(setup.joints), np.inf)
        if self.engine == engines.REFERENCE:
            reference = TreeReference(setup, law, self.armature)
            reference.effort_limits = unlimited
            return reference
        options: dict[str, Any] = dict(setup.scenario.engine_options)
        if self.own and issubclass(engines.spec(self.engine).settings, engines.MujocoSettings):
            # MuJoCo's own integrator is Runge-Kutta 4 here; its servos are made for this one.
            options[self.engine] = {"integrator": "implicitfast", **options.get(self.engine, {})}
        more: dict[str, Any] = {"urdf": without_frames(strip(setup.urdf())), "friction": law}
        more |= {"armature": self.armature, "effort_limits": unlimited}
        more |= {"servos": self.own, "options": options}
        return engines.simulate_model(engines.EngineModel.of(setup, **more), self.engine)

    def respond(self, joint: int, servos: list[Servo], targets: Array, nudge: float = 0) -> Array:
        """Return the positions of a joint (k + 1,), relative to the start, under its targets (k,).

        They end where the joint is lost, because its servo is unstable.

        Args:
            joint: its number; the others are held, or at their start under their servos.
            servos: of all joints, in one mode and with one delay.
            targets: of the joint, relative to the start.
            nudge: offset of the joint's position at the start.

        Raises:
            AccordError: for an engine that has no servo of its own, or cannot hold joints.
        """
        simulator, first, unit = self.simulator, self.setup.initial, np.eye(len(servos))[joint]
        start, at_rest, is_free = first.q, 0.0 * unit, unit > 0.0 if self.held else unit >= 0.0
        for i in range(len(servos)):
            simulator.lock(i, not is_free[i])
        own = np.flatnonzero(is_free).tolist() if self.own else []
        for i in own:
            if isinstance(simulator, engines.EngineSimulator):
                simulator.limit_servo(i, servos[i].effort, servos[i].velocity)
        pose = start + nudge * unit, at_rest, at_rest, first.position, first.orientation
        state, out = simulator.reset(RobotState(0.0, *pose)), [nudge]
        waiting = [start if self.own else at_rest] * servos[joint].delay
        limit = LOST * (max(abs(nudge), float(np.abs(targets).max())) or 1.0)
        for target in targets:
            aims = start + target * unit
            states = zip(aims - state.q, state.qd, servos)
            efforts = [effort_of(error, rate, s.numbers) for error, rate, s in states]
            waiting.append(aims if self.own else np.where(is_free, efforts, 0.0))
            late = waiting.pop(0)
            for i in own:
                simulator.drive(i, servos[i].kp, servos[i].kd, float(late[i]))
            try:
                command = Command(at_rest if self.own else late)
                state = simulator.step(command, self.setup.scenario.control_period)
            except AccordError:  # of a state that is not finite
                break
            out.append(float(state.q[joint] - start[joint]))
            if not abs(out[-1]) < limit:
                break
        return np.array(out)
