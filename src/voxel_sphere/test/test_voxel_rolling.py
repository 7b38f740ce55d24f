"""Rolling against closed forms, quadrature, Montana's equations and geometry."""

import closed_fields as closed
import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.numerics.rotations import quaternion_matrix
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from voxel_sphere.rolling.field import Field
from voxel_sphere.rolling.motion import Roller, roll

pytestmark = pytest.mark.thorough

N, R = 100, 10.0


def wave(size=N):
    """Return the issue's kind of sinusoid, in closed form."""
    return closed.wave(2 * R, 0.3 * R, 5 * R, radius=R, size=size)


def test_the_plan_path_is_straight():
    """c_x' = r n_z w_y and c_y' = -r n_z w_x, whatever n is, as long as w_z = 0."""
    field, omega = wave(), np.array([-0.3, 1.0, 0.0])
    path = roll(Roller(field, centre=field.place(20, 30)), omega, 6.0)
    off = (path.centre[:, :2] - path.centre[0, :2]) @ omega[:2]
    assert np.abs(off).max() < 1e-6 * R


def test_holonomy():
    """A quarter of a turn each to +x, +y, -x, -y is a turn of 120 degrees about (1, 1, -1)."""
    field = closed.plane((50, 50, 20), (0, 0, 1), radius=R, size=N)
    roller = Roller(field, centre=field.place(30, 30))
    for heading in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        roller.advance((-heading[1], heading[0], 0.0), np.pi / 2)
    assert roller.centre == pytest.approx([30, 30, 30])
    turn = Rotation.from_quat(roller.orientation).as_rotvec()
    assert turn == pytest.approx(np.radians(120.0) * np.array([1, 1, -1]) / np.sqrt(3))


def test_local_plane_drops_the_curvature():
    """It is q' = r w x n(q) of the contact on the graph, integrated here on its own."""
    omega, k = np.array([-0.3, 1.0, 0.0]), 2 * np.pi / (5 * R)

    def rate(_, q):
        slope = 0.3 * R * k * np.cos(k * q[0])
        return R * np.cross(omega, np.array([-slope, 0.0, 1.0]) / np.hypot(1.0, slope))[:2]

    field = wave()
    path = roll(Roller(field, centre=field.place(20, 30), scheme="local_plane"), omega, 6.0)
    found = solve_ivp(
        rate, (0, 6), path.contact[0, :2], rtol=1e-10, atol=1e-10, t_eval=path.time
    ).y.T
    assert path.contact[:, :2] == pytest.approx(found, abs=1e-5)


def test_montanas_equations():
    """Murray, Li, Sastry (5.28) on a plane, rolling with spin, against the path's coordinates.

    Mf = 1, Kf = 0, Tf = 0: ao' = Mo^-1 R_psi r [-wy; wx], af' = r [-wy; wx], psi' = wz + To Mo ao',
    with (wx, wy, wz) the ball's angular velocity relative to the ground in the ground's frame,
    in which the contact moves by r w x z = r (wy, -wx).
    """
    field = closed.plane((50, 50, 20), (0, 0, 1), radius=R, size=N)
    omega = np.array([0.2, 0.5, 0.3])
    start = Rotation.from_rotvec([0.4, 1.2, -0.7]).as_quat()
    path = roll(Roller(field, centre=field.place(50, 50), orientation=start), omega, 1.0, 400)
    coordinates, chart = path.montana
    assert set(chart) == {chart[0]}
    h = path.time[1]
    _, _, u, _, psi = coordinates[200]
    x1, y1, u1, v1, psi1 = (coordinates[201] - coordinates[199]) / (2 * h)
    assert [x1, y1] == pytest.approx(R * np.array([omega[1], -omega[0]]))
    # The contact's velocity in the ball's tangents: the same length over the ball as the ground.
    turn = np.array([[np.cos(psi), -np.sin(psi)], [-np.sin(psi), -np.cos(psi)]])
    over = turn @ np.array([x1, y1])
    assert [R * u1, R * np.cos(u) * v1] == pytest.approx(over, rel=1e-4)
    assert psi1 == pytest.approx(-omega[2] - np.tan(u) / R * R * np.cos(u) * v1, rel=1e-4)


def test_charts_change_before_the_pole():
    field = closed.plane((50, 50, 20), (0, 0, 1), radius=R, size=N)
    path = roll(Roller(field, centre=field.place(20, 50)), (0, 1, 0), 6.0, 600)
    coordinates, chart = path.montana
    assert np.abs(coordinates[:, 2]).max() < np.radians(80.0)
    assert len(set(chart)) > 1
    assert np.isfinite(coordinates).all()


def test_no_graph_has_no_coordinates():
    field = closed.cylinder((0, 50, 50), (1, 0, 0), 3 * R, radius=R, size=N)
    path = roll(Roller(field, centre=field.place(50, 50)), (1.0, 0, 0), 4.0)
    upside_down = path.normal[:, 2] < 0
    assert upside_down.any()
    assert np.isnan(path.montana[0][upside_down]).all()


def test_steps_by_command_are_a_run():
    field, omega = wave(), (-0.3, 1.0, 0.0)
    roller = Roller(field, centre=field.place(20, 30))
    for _ in range(1000):
        roller.advance(omega, 1e-3)
    path = roll(Roller(field, centre=field.place(20, 30)), omega, 1.0)
    assert roller.centre == pytest.approx(path.centre[-1], abs=1e-7)
    assert roller.orientation == pytest.approx(path.orientation[-1], abs=1e-12)


def test_a_script():
    """A level w that turns once round brings the sphere back on a plane."""
    field = closed.plane((50, 50, 20), (0, 0, 1), radius=R, size=N)
    path = roll(
        Roller(field, centre=field.place(50, 50)),
        lambda time: (np.cos(time), np.sin(time), 0.0),
        2 * np.pi,
    )
    assert path.centre[-1] == pytest.approx([50, 50, 30], abs=1e-9)
    assert path.travel == pytest.approx(2 * np.pi * R)


def test_curvature_is_said():
    """In a groove the sphere touches both sides; on the issue's sinusoid it never does."""
    x = np.abs(np.arange(N) + 0.5 - N / 2)[:, None, None]
    groove = np.broadcast_to(np.arange(N)[None, None, :] + 0.5 < 15 + x, (N, N, N))
    field = Field.build(groove, R)
    path = roll(Roller(field, centre=field.place(30, 50)), (0, 1, 0), 3.5)
    assert [event.kind for event in path.events] == ["curvature"]
    assert path.events[0].centre[0] == pytest.approx(50.0, abs=0.2 * R)
    assert path.centre[-1, 0] > 55.0


def test_the_edge_ends_a_run():
    field = closed.plane((50, 50, 20), (0, 0, 1), radius=R, size=N)
    path = roll(Roller(field, centre=field.place(50, 50)), (0, 1, 0), 10.0)
    assert (path.status, path.failed) == ("left", False)
    assert path.time[-1] == pytest.approx(5.0, abs=0.03)


def test_contact_lost():
    """A step of 3 rad leaps from crest to crest, and off the ground."""
    roller = Roller(wave(), centre=wave().place(20, 50), step=3.0)
    assert roller.advance((0, 1, 0), 6.0) == "contact_lost"


@pytest.mark.parametrize("omega", [(1.0, 2.0), (np.nan, 0.0, 0.0), (np.inf, 0.0, 0.0)])
def test_wrong_commands(omega):
    field = wave()
    with pytest.raises(AccordError, match="three finite numbers"):
        Roller(field, centre=field.place(20, 30)).advance(omega, 0.1)


def test_orientation_turns_in_the_world_frame():
    """A' = [w] A: exp(t [w]) comes on the left, however the ball lay."""
    field = wave()
    start = Rotation.from_rotvec([0.5, -0.2, 0.9])
    path = roll(
        Roller(field, centre=field.place(20, 30), orientation=start.as_quat()),
        (-0.3, 1.0, 0.2),
        2.0,
    )
    turned = (Rotation.from_rotvec([-0.6, 2.0, 0.4]) * start).as_matrix()
    assert quaternion_matrix(path.orientation[-1]) == pytest.approx(turned, abs=1e-10)
