"""Failed arms for tests: their setups and runs, closed forms, and targets."""

from __future__ import annotations

import numpy as np
from packbot.contact.clearance import Clearance
from packbot.controllers.trial import clear_start
from packbot.model.arm import Kinematics
from packbot.planning.failed_arm import FailedArm
from packbot.planning.recovery import Recoverer
from roboaccord.cli.options import load_setup
from roboaccord.contract.fault import Fault
from roboaccord.run.answer import reset_controller
from roboaccord.run.loop import drive, make_simulator
from roboaccord.run.metrics import KeptMotion

ENGINES = ("reference", "dart", "mujoco")
TOLD = "controller.diagnosis=told"


def setup_of(*faults, changes=()):
    return clear_start(load_setup("packbot", "reach", [*changes], [*faults]))


def arm_of(joint="elbow2"):
    """Return the arm of the transition, with a loose joint."""
    setup = load_setup("packbot", "transition")
    return FailedArm(setup, [Fault(joint, "loose")], q=setup.initial.q)


def recoverer(setup):
    return Recoverer(FailedArm(setup, setup.faults), setup.initial.q)


def tips_of(setup, count, seed):
    """Return the finger tips (count, 3) of random poses of the healthy arm that are clear."""
    clearance, rng = Clearance.of(setup), np.random.default_rng(seed)
    drawn = (rng.uniform(*setup.parameters.limits) for _ in iter(int, 1))
    clear = (q for q in drawn if not clearance.touches(q))
    return [Kinematics(setup).tip(next(clear)) for _ in range(count)]


def two_link(arm, target):
    """Return all planar solutions (k, 3) of an arm with one frozen elbow, by the law of cosines."""
    p = arm.setup.parameters
    a, b, hand = p.shoulder_a, p.elbow1_a, p.wrist_x + p.gripper_length
    (joint,) = arm.frozen.tolist()
    angle = arm.lower[joint]
    fore = a + b * np.exp(1j * angle) if joint == 2 else b + hand * np.exp(1j * angle)
    first, second = (abs(fore), hand) if joint == 2 else (a, abs(fore))
    turn = np.angle(fore)
    r, z = np.hypot(*(target[:2] - [p.base_x, 0.0])), target[2] - p.base_z - p.turret_d
    poses = []
    for ahead in (r, -r):
        size = np.hypot(ahead, z)
        cosine = (size**2 - first**2 - second**2) / (2.0 * first * second)
        if abs(cosine) > 1.0:
            continue
        for bend in (np.arccos(cosine), -np.arccos(cosine)):
            lead = np.arctan2(z, ahead) - np.arctan2(
                second * np.sin(bend), first + second * np.cos(bend)
            )
            if joint == 2:
                planar = (lead - turn, angle, bend + turn - angle)
            else:
                planar = (lead, bend - turn, angle)
            back = 0.0 if ahead > 0 else np.pi
            turret = np.arctan2(target[1], target[0] - p.base_x) + back
            poses.append((turret, *planar))
    q = np.tile(arm.setup.initial.q, (len(poses), 1))
    if poses:
        q[:, :4] = (np.array(poses) - arm.lower[:4]) % (2 * np.pi) + arm.lower[:4]
        q[:, joint] = angle
    inside = ((q <= arm.upper + 2e-3) & (q >= arm.lower - 1e-9)).all(axis=1)
    return np.clip(q[inside], arm.lower, arm.upper)


def simulated(setup, engine="reference", name="recover", known=None):
    """Return a run of a setup, and its controller, which may be given another one."""
    controller = setup.robot.controllers[name]
    spec = {key: value for key, value in setup.scenario.controller.items() if key != "name"}
    made = controller(known or setup, **spec)
    motion = KeptMotion(setup.joints)
    reset_controller(made, 0)
    drive(
        simulator=make_simulator(setup, engine), controller=made, initial=setup.initial,
        duration=setup.scenario.duration, control_period=setup.scenario.control_period,
        observers=(motion,), timeout=60.0,
    )  # fmt: skip
    return motion.trajectory, made
