"""Articulated-body dynamics: against closed forms, identities, and pinocchio over a collection."""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from interpreted import interpret
from roboaccord.contract.errors import AccordError
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import read_urdf
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_matrix

EPS = np.finfo(float).eps
COLLECTION = (
    Path(sys.prefix)
    / f"lib/python3.{sys.version_info.minor}/site-packages/cmeel.prefix"
    / "share/example-robot-data/robots"
)
ORIGIN, LEVEL, REST = np.zeros(3), np.eye(3), np.zeros(6)
SINGULAR = ("romeo.urdf", "romeo_laas_small.urdf")  # massless links that move


def inertial(mass, centre="0 0 0", diagonal=(0.0, 0.0, 0.0)):
    values = " ".join(f'i{a}{a}="{v}"' for a, v in zip("xyz", diagonal, strict=True))
    inertia = f'<inertia {values} ixy="0" ixz="0" iyz="0"/>'
    return f'<inertial><origin xyz="{centre}"/><mass value="{mass}"/>{inertia}</inertial>'


def joint(name, parent, child, kind="continuous", origin="0 0 0", axis="0 1 0"):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{origin}"/><axis xyz="{axis}"/></joint>'
    )


def tree_of(links, joints=()):
    text = "".join(f'<link name="{name}">{body}</link>' for name, body in links.items())
    return Tree.parse(f"<robot name='r'>{text}{''.join(joints)}</robot>")


LOWER = inertial(1.5, "0 0 -0.7")


def pendulum(lower=LOWER):
    """Return a double pendulum of point masses, 2 kg at 0.5 m and 1.5 kg at 0.7 m below it."""
    links = {"base_link": "", "one": inertial(2.0, "0 0 -0.5"), "two": lower}
    joints = joint("a", "base_link", "one"), joint("b", "one", "two", origin="0 0 -0.5")
    return tree_of(links, joints)


@pytest.mark.parametrize("seed", range(5))
def test_a_double_pendulum_moves_by_its_equations(seed):
    """The textbook's equations of two point masses, in the absolute angles p = a and q = a + b.

    (m1 + m2) l1 p'' + m2 l2 q'' cos(p - q) + m2 l2 q'^2 sin(p - q) + (m1 + m2) g sin p = 0,
    l2 q'' + l1 p'' cos(p - q) - l1 p'^2 sin(p - q) + g sin q = 0.
    """
    rng = np.random.default_rng(seed)
    (a, b), (da, db) = rng.uniform(-3, 3, 2), rng.normal(size=2)
    m1, m2, l1, l2, g = 2.0, 1.5, 0.5, 0.7, 9.81
    p, q, dp, dq = a, a + b, da, da + db
    c, s = np.cos(p - q), np.sin(p - q)
    left = [[(m1 + m2) * l1, m2 * l2 * c], [l1 * c, l2]]
    right = [-m2 * l2 * dq**2 * s - (m1 + m2) * g * np.sin(p), l1 * dp**2 * s - g * np.sin(q)]
    pp, qq = np.linalg.solve(left, right)
    dynamics = TreeDynamics(pendulum(), ("a", "b"), "fixed", g)
    answer = dynamics.acceleration(
        np.array([a, b]), np.array([da, db]), np.zeros(2), ORIGIN, LEVEL, REST
    )
    np.testing.assert_allclose(answer.joints, [pp, qq - pp], rtol=1e-12)
    assert not answer.base.any()


def test_a_free_body_turns_by_eulers_equations():
    """And its centre of mass falls: the origin is 0.3 m from it, and is thrown about it."""
    moments = np.array([1.0, 2.0, 2.5])
    body = tree_of({"base_link": inertial(3.0, "0.3 0 0", moments)})
    dynamics = TreeDynamics(body, (), "free", 9.81)
    rotation = quaternion_matrix(np.array([0.1, -0.5, 0.3, np.sqrt(0.65)]))
    omega = np.array([0.4, -1.0, 2.0])
    twist = np.concatenate([[1.0, 2.0, 3.0], rotation @ omega])
    answer = dynamics.acceleration(np.zeros(0), np.zeros(0), np.zeros(0), ORIGIN, rotation, twist)
    alpha = np.cross(moments * omega, omega) / moments
    np.testing.assert_allclose(answer.base[3:], rotation @ alpha, rtol=1e-12)
    centre = np.array([0.3, 0.0, 0.0])
    thrown = np.cross(alpha, centre) + np.cross(omega, np.cross(omega, centre))
    np.testing.assert_allclose(
        answer.base[:3], [0.0, 0.0, -9.81] - rotation @ thrown, rtol=1e-12, atol=1e-12
    )


def test_rk4_keeps_energy_and_momentum_to_its_order():
    """A pendulum on a free base: 16 times less energy is lost at half the step, to 10 %."""
    links = {
        "base_link": inertial(4.0, "0 0 0.1", (0.3, 0.2, 0.4)),
        "one": inertial(2.0, "0 0 -0.5", (0.1, 0.1, 0.05)),
        "two": inertial(1.0, "0.2 0 0", (0.02, 0.03, 0.04)),
    }
    joints = (
        joint("a", "base_link", "one", origin="0.1 0 0", axis="0 1 0"),
        joint("b", "one", "two", "prismatic", "0 0 -1", "1 0 -2"),
    )
    free = TreeDynamics(tree_of(links, joints), ("a", "b"), "free", 9.81)

    def energy(y):
        rotation, v = quaternion_matrix(y[3:7]), y[9:]
        mass = free.mass_matrix(y[7:9], rotation)
        height = y[2] * 7.0 + (rotation @ [0, 0, 0.1])[2] * 4.0
        one = y[2] + (rotation @ [0.1, 0, 0])[2]
        turn = rotation @ np.array([
            [np.cos(y[7]), 0, np.sin(y[7])], [0, 1, 0], [-np.sin(y[7]), 0, np.cos(y[7])]
        ])  # fmt: skip
        slide = np.array([0.2, 0, -1]) + y[8] * np.array([1, 0, -2]) / np.sqrt(5)
        height += 3.0 * (one - y[2]) + 2.0 * (turn @ [0, 0, -0.5])[2] + (turn @ slide)[2]
        return 0.5 * v @ mass @ v + 9.81 * height

    twist = np.array([0.0, 0, 0, 1, 2, 3])
    start = free.state(np.ones(2), np.array([3.0, 1]), ORIGIN, np.array([0, 0, 0, 1.0]), twist)
    lost = []
    for steps in (100, 200):
        y = start.copy()
        free.advance(y, np.zeros(2), 1.0 / steps, steps)
        lost.append(abs(energy(y) - energy(start)))
        assert np.linalg.norm(y[3:7]) == pytest.approx(1.0, abs=1e-15)
    assert np.log2(lost[0] / lost[1]) > 3.9
    momentum = [
        (free.mass_matrix(y[7:9], quaternion_matrix(y[3:7])) @ y[9:])[:3] for y in (start, y)
    ]
    falling = momentum[0] - [0, 0, 7.0 * 9.81]
    np.testing.assert_allclose(momentum[1], falling, atol=1e-6)


def test_a_planar_base_slides_and_turns_only():
    """A disc pushed off its centre: force over mass, and torque over inertia."""
    disc = tree_of({"base_link": inertial(2.0, "0 0 0", (1, 1, 0.5))})
    planar = TreeDynamics(disc, (), "planar", 9.81)
    none = np.zeros(0)
    push = np.array([3.0, 4.0, 5.0, 6.0, 7.0, 0.25])
    found = planar.acceleration(none, none, none, ORIGIN, LEVEL, REST, push)
    np.testing.assert_allclose(found.base, [1.5, 2.0, 0.0, 0.0, 0.0, 0.5], atol=1e-15)
    np.testing.assert_allclose(planar.mass_matrix(none, LEVEL), np.diag([2, 2, 0.5]))


def test_friction_brakes_a_joint():
    """-(b w + k w / sqrt(w^2 + e^2)) over the inertia."""
    links = {"base_link": "", "one": inertial(1.0, "0 0 0", (1, 2.0, 1))}
    dynamics = TreeDynamics(
        tree_of(links, [joint("a", "base_link", "one")]),
        ("a",), "fixed", 9.81, np.array([0.3]), np.array([0.4]), 0.75,
    )  # fmt: skip
    one = np.ones(1)
    found = dynamics.acceleration(0 * one, one, 2 * one, ORIGIN, LEVEL, REST)
    assert found.joints[0] == pytest.approx((2.0 - 0.3 - 0.4 / 1.25) / 2.0, rel=1e-14)


@pytest.mark.parametrize("n", range(4))
def test_kernels_stay_within_their_arrays(n, monkeypatch):
    """Compiled code checks no index; the same functions do in plain Python."""
    body, names = inertial(1.0, "0.1 0 -0.2", (0.1, 0.2, 0.15)), ("base_link", "a", "b", "c")
    links = dict.fromkeys(names[: n + 1], body)
    joints = [joint(f"to_{b}", a, b, origin="0 0.1 -0.4") for a, b in pairwise(links)]
    moving, q = tuple(f"to_{name}" for name in names[1 : n + 1]), np.full(n, 0.3)

    def compute():
        dynamics = TreeDynamics(tree_of(links, joints), moving, "free", 9.81)
        y = dynamics.state(q, q, ORIGIN, np.eye(4)[3], np.ones(6))
        dynamics.advance(y, q, 1e-3, 2)
        statics = dynamics.statics(q, LEVEL)
        return np.concatenate([y, *map(np.ravel, statics)])

    compiled = compute()
    interpret(monkeypatch)
    np.testing.assert_allclose(compute(), compiled, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("base", ["fixed", "planar", "free"])
def test_interpreted_kernels_take_all_states_at_once(base, monkeypatch):
    """Row by row, they add and multiply as for one state; sines may differ in the last place."""
    rng = np.random.default_rng(0)
    body = inertial(1.0, "0.1 0 -0.2", (0.1, 0.2, 0.15))
    links = {"base_link": body, "one": body, "two": body, "three": body}
    joints = (
        joint("a", "base_link", "one", origin="0 0.1 0"),
        joint("b", "one", "two", "prismatic", "0 0 -0.5", "1 0 0"),
        joint("c", "one", "three", origin="0 0 -0.3", axis="1 0 0"),
    )
    dynamics = TreeDynamics(tree_of(links, joints), ("a", "b", "c"), base, 9.81)
    turns = [quaternion_matrix(turn / np.linalg.norm(turn)) for turn in rng.normal(size=(5, 4))]
    states = [(*rng.normal(size=(3, 3)), ORIGIN, turn, rng.normal(size=6)) for turn in turns]
    expected = [dynamics.acceleration(*state) for state in states]
    poses = [(state[0], state[4]) for state in states]
    statics = [dynamics.statics(*pose) for pose in poses]
    interpret(monkeypatch)
    for found, one in zip(dynamics.accelerations(states), expected, strict=True):
        np.testing.assert_allclose(found.base, one.base, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.joints, one.joints, rtol=1e-12, atol=1e-12)
    for mine, other in zip(dynamics.all_statics(poses), statics, strict=True):
        for together, single in zip(mine, other, strict=True):
            np.testing.assert_allclose(together, single, rtol=1e-12, atol=1e-12)


def test_links_without_an_inertia_are_named():
    """A massless last link, a point mass on its own axis, and a massless free base."""
    with pytest.raises(
        AccordError, match=r"^link two has no positive inertia about its joint b, nor has"
    ):
        TreeDynamics(pendulum(lower=""), ("a", "b"), "fixed", 9.81)
    with pytest.raises(AccordError, match=r"^link two has no positive inertia about its joint b"):
        TreeDynamics(pendulum(lower=inertial(1.0)), ("a", "b"), "fixed", 9.81)
    with pytest.raises(AccordError, match=r"^link base_link, the base, has no mass or no inertia"):
        TreeDynamics(tree_of({"base_link": ""}), (), "free", 9.81)
    carried = TreeDynamics(pendulum(), ("a",), "fixed", 9.81)  # the other is at 0
    assert carried.mass_matrix(np.zeros(1), LEVEL)[0, 0] == pytest.approx(
        2.0 * 0.5**2 + 1.5 * 1.2**2, rel=1e-14
    )


def files():
    return sorted(COLLECTION.rglob("*.urdf")) if COLLECTION.is_dir() else []


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("path", files() or [None], ids=lambda path: path and path.stem)
def test_accelerations_are_those_of_pinocchio(path, base):
    """Over 5 random states to 1e-12, or to what the condition of the mass matrix leaves."""
    pin = pytest.importorskip("pinocchio")
    if path is None:
        pytest.skip("the collection is not installed: pip install example-robot-data")
    text = path.read_text()
    if "<link" not in text:
        pytest.skip("the file holds no robot")
    file = read_urdf(path)
    urdf, _ = file.rooted(file.stripped())
    tree = Tree.parse(urdf)
    joints = tuple(each.name for each in tree.moving)
    if path.name in SINGULAR:
        with pytest.raises(AccordError, match="has no positive inertia about its joint"):
            TreeDynamics(tree, joints, base, 9.81)
        return
    floating = [pin.JointModelFreeFlyer()] if base == "free" else []
    model = pin.buildModelFromXML(urdf, *floating)
    if not model.nv:
        pytest.skip("nothing moves")
    mine, data = TreeDynamics(tree, joints, base, 9.81), model.createData()
    index = [model.joints[model.getJointId(name)] for name in joints]
    rows = [*range(6 * len(floating)), *(each.idx_v for each in index)]
    rng = np.random.default_rng(1)
    for _ in range(5):
        bounds = [(max(j.lower, -np.pi), min(j.upper, np.pi)) for j in tree.moving]
        q = np.array([rng.uniform(*sorted(each)) for each in bounds])
        qd, effort = rng.normal(size=len(joints)), rng.uniform(-1, 1, len(joints))
        rotation, twist = LEVEL, REST
        if floating:
            quaternion = rng.normal(size=4)
            rotation = quaternion_matrix(quaternion / np.linalg.norm(quaternion))
            twist = rng.normal(size=6)
        turn = np.kron(np.eye(2), rotation)
        theirs = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        if floating:
            theirs[0][3:7], theirs[1][:6] = matrix_quaternion(rotation), turn.T @ twist
        for i, each in enumerate(index):
            at = slice(each.idx_q, each.idx_q + each.nq)
            theirs[0][at] = q[i] if each.nq == 1 else (np.cos(q[i]), np.sin(q[i]))
            theirs[1][each.idx_v], theirs[2][each.idx_v] = qd[i], effort[i]
        expected = pin.aba(model, data, *theirs)[rows]
        mass = pin.crba(model, data, theirs[0])
        mass = (np.triu(mass) + np.triu(mass, 1).T)[np.ix_(rows, rows)]
        force = pin.computeGeneralizedGravity(model, data, theirs[0])[rows]
        ours = mine.acceleration(q, qd, effort, ORIGIN, rotation, twist)
        if floating:
            expected[:6] = turn @ expected[:6]
            expected[:3] += np.cross(twist[3:], twist[:3])
            mass[:6], force[:6] = turn @ mass[:6], turn @ force[:6]
            mass[:, :6] = mass[:, :6] @ turn.T
        both = np.concatenate([ours.base, ours.joints])[-len(rows) :]
        limit = max(1e-12, EPS * np.linalg.cond(mass))
        assert np.abs(both - expected).max() <= limit * np.abs(expected).max()
        our_mass, our_force = mine.statics(q, rotation)
        assert np.abs(our_mass - mass).max() <= 1e-13 * np.abs(mass).max()
        worst = np.abs(our_force - force).max()
        assert worst <= 1e-13 * max(np.abs(force).max(), 1e-9)
