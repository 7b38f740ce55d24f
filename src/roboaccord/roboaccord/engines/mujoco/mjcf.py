"""Elements of an MJCF model besides links and joints: actuators, equalities, tendons, and others.

convert.py converts a compiled MJCF model to a URDF by means of these functions. `mimics` and
`servos` translate the equalities and actuators that a URDF can express; `actuator_terms` returns
what actuators add to inertia and damping of joints, also for reader.py. `lacks` names each element
without which the robot moves otherwise, and `left_out` the other elements for which URDF has no
equivalent. A new element of MuJoCo's goes into one of the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import mujoco
import numpy as np

from roboaccord.contract.state import Array

JOINT, OBJECT = mujoco.mjtJoint, mujoco.mjtObj
# [m/s^2] MuJoCo's default gravity, which acts on converted robots; any other gets a note.
GRAVITY = (0.0, 0.0, -9.81)


def mimics(model: mujoco.MjModel) -> Iterator[tuple[int, tuple[str, float, float]]]:
    """Yield each joint that an equality makes a multiple of another, with its `Joint.mimic`.

    MuJoCo's q - ref = offset + factor (q_lead - ref_lead) becomes q = factor q_lead + offset.
    """
    kinds = int(JOINT.mjJNT_HINGE), int(JOINT.mjJNT_SLIDE)
    for i in np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_JOINT):
        follower, lead = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
        offset, factor, *higher = model.eq_data[i, :5].tolist()
        # Left out are constants, polynomials of higher order, and equalities that are switched off.
        if lead < 0 or any(higher) or not model.eq_active0[i] or model.jnt_type[lead] not in kinds:
            continue
        ref, ref_lead = model.qpos0[model.jnt_qposadr[[follower, lead]]]
        name = name_of(model, OBJECT.mjOBJ_JOINT, lead)
        yield follower, (name, factor, float(offset + ref - factor * ref_lead))


def linear_actuators(model: mujoco.MjModel) -> Iterator[int]:
    """Yield the actuators whose force on a joint is linear in its position and rate."""
    biases = int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)
    for i in range(model.nu):
        of_joint = model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT
        has_no_state = model.actuator_dyntype[i] == mujoco.mjtDyn.mjDYN_NONE
        has_fixed_gain = model.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
        if of_joint and has_no_state and has_fixed_gain and model.actuator_biastype[i] in biases:
            yield i


def actuator_terms(model: mujoco.MjModel) -> Array:
    """Return the reflected inertia and damping of actuators on each rate (2, nv)."""
    added = np.zeros((2, model.nv))
    for i in np.flatnonzero(model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT):
        gear, dof = model.actuator_gear[i, 0], model.jnt_dofadr[model.actuator_trnid[i, 0]]
        added[:, dof] += gear**2 * np.array([model.actuator_armature[i], model.actuator_damping[i]])
    return added


def servos(model: mujoco.MjModel) -> Iterator[tuple[int, tuple[float, float, float]]]:
    """Yield joints with the summed stiffness, damping and largest effort of their actuators.

    An actuator's force is gain u + b0 + b1 l + b2 l' with l = gear q, and acts times gear. With u
    and b0 left out, its stiffness is -gear^2 b1 and its damping -gear^2 b2.
    """
    by_joint = dict[int, list[tuple[float, float, float]]]()
    for i in linear_actuators(model):
        gear = abs(float(model.actuator_gear[i, 0]))
        _, stiffness, damping = (-gear * gear * model.actuator_biasprm[i, :3]).tolist()
        limited = model.actuator_forcelimited[i]
        largest = gear * float(model.actuator_forcerange[i, 1]) if limited else np.inf
        numbers = (stiffness, damping, largest)
        by_joint.setdefault(int(model.actuator_trnid[i, 0]), []).append(numbers)
    for joint, rows in by_joint.items():
        stiffness, damping, largest = np.sum(rows, axis=0).tolist()
        yield joint, (stiffness, damping, largest)


def lacks(model: mujoco.MjModel, mimics: Mapping[int, object]) -> Iterator[str]:
    """Yield the names of elements that change the motion and that URDF cannot express.

    Args:
        model: MuJoCo's.
        mimics: equalities that URDF can express, by number of the joint that follows another.
    """
    mocaps = [i for i in range(model.nbody) if model.body_mocapid[i] >= 0]
    for element, kind, indices in (
        ("tendon", OBJECT.mjOBJ_TENDON, range(model.ntendon)),
        ("flex", OBJECT.mjOBJ_FLEX, range(model.nflex)),
        ("mocap body", OBJECT.mjOBJ_BODY, mocaps),
        ("plugin", OBJECT.mjOBJ_PLUGIN, range(model.nplugin)),
    ):
        yield from (f"{element} {name_of(model, kind, i)}" for i in indices)
    for i in range(model.neq):
        word = mujoco.mjtEq(model.eq_type[i]).name.removeprefix("mjEQ_").lower()
        if word != "joint" or int(model.eq_obj1id[i]) not in mimics:
            loop = ", a loop" if word in ("connect", "weld") else ""
            yield f"equality {word} {name_of(model, OBJECT.mjOBJ_EQUALITY, i)}{loop}"


def left_out(model: mujoco.MjModel) -> Iterator[str]:
    """Yield a line for each property that is left out because URDF has no element for it."""
    is_free = np.isin(model.jnt_type, JOINT.mjJNT_FREE)[model.dof_jntid]  # by rate
    of_free_joint = (model.dof_armature + model.dof_damping + model.dof_frictionloss)[is_free]
    other_actuators = model.nu - len([*linear_actuators(model)])
    omitted = (
        ("springs that are not linear", model.jnt_stiffnesspoly.any() or model.nplastic),
        ("damping of higher order", model.dof_dampingpoly.any()),
        ("armature, damping and friction of the free joint", of_free_joint.any()),
        ("gravity compensation", model.body_gravcomp.any()),
        ("density, viscosity and wind of the air", model.opt.density or model.opt.viscosity),
        ("actuators not linear, with states, or not of a joint", other_actuators),
    )
    for properties, is_present in omitted:
        if is_present:
            yield f"{properties}: left out"
    weightless = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    gravity = (0.0, 0.0, 0.0) if weightless else tuple(model.opt.gravity)
    if gravity != GRAVITY:
        words = " ".join(f"{x:g}" for x in gravity)
        yield f"gravity of the file, {words} m/s^2: left out, 9.81 acts here"


def name_of(model: mujoco.MjModel, kind: mujoco.mjtObj, i: int) -> str:
    """Return the name of an object; of one without a name, its kind and number, as in `body_3`."""
    word = kind.name.removeprefix("mjOBJ_").lower()
    return str(mujoco.mj_id2name(model, kind, i) or f"{word}_{i}")
