"""The regressor against Pinocchio's, known counts of base parameters, and motions in limits."""

from pathlib import Path

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.scenario.setups import load_setup
from roboaccord_files.excitation.base import BaseParameters, random_states
from roboaccord_files.excitation.command import excite_command, search_of
from roboaccord_files.excitation.identified import Identified
from roboaccord_files.excitation.motion import FourierMotion
from roboaccord_files.excitation.regressor import regressor, values_of
from roboaccord_files.logs.follow import read_trajectory_file

FILES = Path(__file__).parents[2] / "roboaccord/test/data/urdf"
GRAVITY = np.array([0.0, 0.0, -9.81])
AS_PINOCCHIO = [0, 1, 2, 3, 4, 5, 7, 6, 8, 9]  # xx xy yy xz yz zz there


@pytest.mark.parametrize("name", ["panda", "xarm7", "double_pendulum"])
def test_the_columns_are_those_of_pinocchio(name):
    """Inertial columns, values and base parameters, of hinges and slides."""
    pin = pytest.importorskip("pinocchio")
    setup = load_setup(str(FILES / f"{name}.urdf"))
    model = pin.buildModelFromUrdf(str(FILES / f"{name}.urdf"))
    states = random_states(setup.tree, setup.joints)
    rows = regressor(setup.tree, setup.joints, GRAVITY, states, friction=False)
    data, column = model.createData(), [model.joints[model.getJointId(j)] for j in setup.joints]
    at_q, at_v = ([getattr(joint, key) for joint in column] for key in ("idx_q", "idx_v"))
    expected = []
    for q, qd, qdd in zip(*states):
        full_q, full_v, full_a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        continuous = [joint.nq == 2 for joint in column]
        for i, joint in enumerate(column):
            angle = [np.cos(q[i]), np.sin(q[i])] if continuous[i] else [q[i]]
            full_q[at_q[i] : at_q[i] + joint.nq] = angle
        full_v[at_v], full_a[at_v] = qd, qdd
        expected.append(pin.computeJointTorqueRegressor(model, data, full_q, full_v, full_a)[at_v])
    expected = np.array(expected)
    values = np.concatenate(
        [model.inertias[i].toDynamicParameters() for i in range(1, model.njoints)]
    )
    ours = rows @ values_of(setup.tree, setup.joints, friction=False)
    np.testing.assert_allclose(ours, expected @ values, rtol=0, atol=1e-9 * np.abs(ours).max())
    rank = np.linalg.matrix_rank(expected.reshape(-1, expected.shape[-1]), tol=1e-6)
    base = BaseParameters.of(setup.tree, setup.joints, GRAVITY, friction=False)
    assert len(base.kept) == rank
    flat = rows.reshape(-1, rows.shape[-1])
    combined = base.factors @ values_of(setup.tree, setup.joints, friction=False)
    np.testing.assert_allclose(
        flat[:, list(base.kept)] @ combined, (expected @ values).ravel(),
        rtol=0, atol=1e-8 * np.abs(ours).max(),
    )  # fmt: skip


@pytest.mark.parametrize(("name", "count"), [("xarm7", 43), ("double_pendulum", 6)])
def test_base_parameters_are_as_many_as_in_the_literature(name, count):
    """43 of an arm of seven hinges [Gaz et al. 2019]; a planar one has 6 [Khalil, Dombre 2002]."""
    setup = load_setup(str(FILES / f"{name}.urdf"))
    base = BaseParameters.of(setup.tree, setup.joints, GRAVITY, friction=False)
    assert len(base.kept) == count


def test_a_motion_goes_from_rest_to_rest():
    rng = np.random.default_rng(1)
    motion = FourierMotion.of(rng.standard_normal((2, 3, 5)), np.zeros(3), 7.0)
    q, qd, qdd = motion.at(np.array([0.0, 7.0]))
    np.testing.assert_allclose(q[0], q[1], atol=1e-12)
    assert np.abs([qd, qdd]).max() < 1e-11
    h = 1e-4
    (before, now, after), rates, accelerations = motion.at(np.array([2.0 - h, 2.0, 2.0 + h]))
    np.testing.assert_allclose(rates[1], (after - before) / (2 * h), atol=1e-5)
    np.testing.assert_allclose(accelerations[1], (after - 2 * now + before) / h**2, atol=1e-4)


def test_the_motion_keeps_its_limits_and_is_better_conditioned(tmp_path):
    """Than the median of random motions; the files are those that `follow` reads."""
    file = str(FILES.parents[4] / "examples/own_log/arm.urdf")
    found = excite_command(file, tries=40, folder=tmp_path / "out").data
    assert found.condition < found.random
    setup = load_setup(file, "", ["parameters.stops=1"])
    limits = search_of(setup, 10.0, 5).limits
    names, times, q, qd = read_trajectory_file(tmp_path / "out/excite.yaml")
    assert (names, times[-1]) == ([*setup.joints], 10.0)
    assert (q >= limits.lower).all() and (q <= limits.upper).all()
    assert (np.abs(qd) <= limits.rate).all()
    _, _, again, _ = read_trajectory_file(tmp_path / "out/excite.csv")
    np.testing.assert_allclose(again, q, atol=1e-8)


def test_a_joint_that_cannot_hold_the_robot_is_named(tmp_path):
    file = str(FILES / "double_pendulum.urdf")  # its effort limits are 0
    with pytest.raises(AccordError, match=r"joint1 needs .* its effort limit is 0"):
        excite_command(file, tries=10, folder=tmp_path)


def test_what_a_motion_does_not_show_is_named():
    """Of two hinges of which one rests: its friction, its rotor and all of the other's inertia."""
    setup = load_setup(str(FILES / "double_pendulum.urdf"))
    q, qd, qdd = random_states(setup.tree, setup.joints)
    assert not Identified.of(setup.tree, setup.joints, GRAVITY, (q, qd, qdd)).unseen
    rests = np.array([1.0, 0.0])
    found = Identified.of(setup.tree, setup.joints, GRAVITY, (q, rests * qd, rests * qdd))
    one, other = setup.joints
    assert {f"damping of {other}", f"armature of {other}"} <= {*found.unseen}
    assert f"damping of {one}" not in found.unseen
    assert found.condition > 1e6
