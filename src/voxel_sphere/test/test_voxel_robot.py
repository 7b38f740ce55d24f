"""The voxel sphere as a robot: its terrain, both balls in the reference, controllers, bags."""

import math

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command, Target
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.run.loop import make_simulator
from roboaccord.run.runner import RunRequest, run_direct
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Robot, Setup
from running import run_in
from voxel_sphere.robot import ROBOT
from voxel_sphere.terrain.generate import surface_parts, write_workspace
from voxel_sphere.terrain.mesh import Mesh
from voxel_sphere.terrain.surfaces import make_surface

pytestmark = pytest.mark.thorough

R = 0.1  # m, of the ball
NOTHING = np.zeros(0)
PLANE = "terrain={surface: plane, n: 50}"


def setup_of(name, *changes):
    return Setup.of(load_scenario("voxel_sphere", "voxel_sphere", name, changes))


def test_up_an_incline_it_rolls_straight_at_r_w_x_n():
    setup = setup_of("incline")
    path = run_in(setup)
    slope, heading = math.radians(10.0), math.radians(30.0)
    n = np.array([-math.sin(slope) * math.cos(heading), -math.sin(slope) * math.sin(heading), 0.0])
    n[2] = math.cos(slope)
    w = np.array([-0.4, 1.0, 0.0])
    exact = path.position[0] + path.time[:, None] * (R * np.cross(w, n))
    assert np.linalg.norm(path.position - exact, axis=1).max() < 1e-3 * R
    rotation = quaternion_matrix(path.orientation)
    spin = np.einsum("kij,kj->ki", rotation, path.twist[:, 3:])
    speed = np.einsum("kij,kj->ki", rotation, path.twist[:, :3])
    assert spin[1:] == pytest.approx(np.tile(w, (len(path) - 1, 1)), abs=1e-12)
    # Normals that voxels show are 0.3 degrees off, at best as a mesh.
    off = np.linalg.norm(speed[1:] - R * np.cross(w, n), axis=1)
    assert off.max() < math.radians(0.3) * np.linalg.norm(speed, axis=1).max()


def test_a_script_is_rolled_part_by_part():
    changes = ("controller={name: roll, script: [[0.5, 0, 1, 0], [0.5, -1, 0, 0]]}", "duration=1")
    path = run_in(setup_of("incline", PLANE, *changes))
    # +y turning goes along x, -x turning along y.
    moved = path.position - path.position[0]
    assert moved[50] == pytest.approx([0.5 * R, 0.0, 0.0], abs=1e-9)
    assert moved[100] == pytest.approx([0.5 * R, 0.5 * R, 0.0], abs=1e-9)


def test_a_target_is_a_velocity_in_the_plane():
    target = Target(twist=np.array([0.03, -0.04, 0, 0, 0, 0]))
    path = run_in(setup_of("incline", PLANE, "duration=1"), target=target)
    assert path.position[-1] - path.position[0] == pytest.approx([0.03, -0.04, 0.0], abs=1e-9)


def test_between_walls_it_tells_what_it_hits_and_stays_off_them():
    path = run_in(setup_of("arena", "duration=4"))
    assert [event.kind for event in path.events][:2] == ["wall", "parallel"]
    turn = math.radians(20.0)
    axes = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    inside = (path.position[:, :2] - 0.5) @ axes
    assert np.abs(inside).max() == pytest.approx(2.5 * R, abs=0.05 * R)  # 3.5 r less the radius


def test_a_drive_brings_the_heavy_ball_to_speed_with_its_bandwidth():
    changes = ("controller={name: drive, vx: 0.1, vy: 0.05, bandwidth: 10}", "duration=0.3")
    path = run_in(setup_of("teleop", PLANE, *changes))
    # (I + m r^2) w' = torque = b (I + m r^2) (wanted - w), held over 1 ms.
    speed = np.diff(path.position[:, :2], axis=0) / 1e-3
    middle = 0.5 * (path.time[1:] + path.time[:-1])
    wanted = np.array([0.1, 0.05]) * (1.0 - np.exp(-10.0 * middle))[:, None]
    assert np.abs(speed - wanted).max() < 0.01 * 0.1
    assert path.wrench.shape == (301, 6)
    first = 10.0 * (0.4 + 1.0) * R**2 * np.array([-0.5, 1.0, 0.0])  # N m, at rest
    assert path.wrench[1, 3:] == pytest.approx(first, rel=1e-12)


def test_no_torque_is_above_the_limit():
    path = run_in(setup_of("teleop", PLANE, "controller={name: drive, vx: 9}", "duration=0.01"))
    assert np.linalg.norm(path.wrench[1:, 3:], axis=1) == pytest.approx(np.full(10, 0.5))


def test_a_bag_gives_motion_and_wrenches_back(tmp_path):
    setup = setup_of("teleop", PLANE, "duration=0.05")
    run = run_direct(RunRequest(setup=setup, engine="reference", bag=tmp_path / "bag"))
    back = read_run(run.request.bag)
    assert back.sha256 == back.trajectory.sha256() == run.trajectory.sha256()
    assert back.trajectory.rows().shape == (51, 14)  # no joints
    assert np.array_equal(back.trajectory.wrench, run.trajectory.wrench)
    assert np.array_equal(back.trajectory.command(7).wrench, run.trajectory.wrench[8])


def test_a_terrain_is_made_once_and_a_folder_gives_the_same(tmp_path):
    given = setup_of("bowl", "terrain.n=50")
    assert given.terrain is setup_of("bowl", "terrain.n=50", "duration=1").terrain
    surface = make_surface("bowl", 50, 5.0, bowl_radius=5.0)
    write_workspace(tmp_path, 50, surface_parts(surface, 50), voxel_size=0.02)
    read = setup_of("bowl", f"terrain={{folder: {tmp_path}}}")
    assert np.array_equal(read.terrain.terrain.surface, given.terrain.terrain.surface)
    # The ball's radius comes from its slices there.
    assert read.initial.position == pytest.approx(given.initial.position, abs=1e-3 * R)


def test_slices_of_another_ball_are_refused_with_the_remedy(tmp_path):
    parts = surface_parts(make_surface("plane", 50, 5.0), 50)
    write_workspace(tmp_path, 50, parts, voxel_size=0.01)
    with pytest.raises(AccordError, match=r"try --set parameters.radius=0.05"):
        setup_of("bowl", f"terrain={{folder: {tmp_path}}}")


def test_what_is_drawn_lies_on_ground_and_walls():
    vertices, faces = ROBOT.surroundings(setup_of("bowl"))["terrain"]
    assert Mesh(vertices, np.array(faces)).watertight
    assert Mesh(vertices, np.array(faces)).volume > 0  # its faces look outwards
    bowl = (np.hypot(*(vertices[:, :2] - 0.5).T) < 0.4) & (vertices[:, 2] > vertices[:, 2].min())
    off = np.linalg.norm(vertices[bowl] - [0.5, 0.5, 0.6], axis=1) - 0.5
    assert np.abs(off).max() < 0.1 * 0.01  # m: a tenth of a voxel


def test_walls_are_drawn_straight_on_their_ground():
    """In the arena, walls 3 r high stand on ground at 2 r, 3.5 r from its middle, 20 deg askew."""
    vertices, _ = ROBOT.surroundings(setup_of("arena"))["terrain"]
    assert vertices[:, 2].max() == pytest.approx(5.0 * R, abs=0.1 * 0.1 * R)
    turn = np.radians(20.0)
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    x, y = np.abs(axes @ (vertices[:, :2].T - 5.0 * R))
    within = np.maximum(x, y)
    ground = (within < 3.0 * R) & (vertices[:, 2] > 1.75 * R)
    assert np.abs(vertices[ground, 2] - 2.0 * R).max() < 0.01 * R
    # Away from edges and corners, which smoothing rounds, to a tenth of a voxel of r / 10.
    sides = (vertices[:, 2] > 2.4 * R) & (vertices[:, 2] < 4.6 * R) & (np.minimum(x, y) < 3.0 * R)
    sides &= (np.abs(vertices[:, :2] - 5.0 * R) < 4.9 * R).all(axis=1)  # not those of the grid
    assert sides.sum() > 1000
    assert np.abs(within[sides] - 3.5 * R).max() < 0.1 * 0.1 * R


WRONG = {
    "name one of surface, height and folder": "terrain={}",
    "terrain.n is 7": "terrain={surface: bowl, n: 7}",
    "no surface bowel": "terrain={surface: bowel}",
    "unknown key terrain.depth": "terrain.depth=3",
    "size_workspace is 1": "terrain.size_workspace=1",
    "walls and workspace are names in a folder": "terrain.walls=w",
    "takes free": "base=planar",
    "the linear one follows": "initial.twist=[1, 0, 0, 0, 0, 0]",
    "outside the workspace": "initial.position=[2, 0.5, 0]",
    "is in the air": "initial.position=[0.5, 0.5, 0.9]",
    "mu is -1": "friction.mu=-1",
    "parameters: inertia_ratio is 0.9": "parameters.inertia_ratio=0.9",
}


@pytest.mark.parametrize("message", WRONG)
def test_a_wrong_scenario_is_refused_in_one_line(message):
    with pytest.raises(AccordError, match=message) as raised:
        setup_of("bowl", "terrain.n=50", WRONG[message])
    assert "\n" not in str(raised.value)


def test_each_ball_refuses_what_the_other_is_commanded():
    rolling = make_simulator(setup_of("incline", PLANE))
    with pytest.raises(AccordError, match="takes no wrench"):
        rolling.step(Command(NOTHING, wrench=np.ones(6)), 0.01)
    heavy = make_simulator(setup_of("teleop", PLANE))
    with pytest.raises(AccordError, match="takes a wrench, no twist"):
        heavy.step(Command(NOTHING, twist=np.ones(6)), 0.01)
    with pytest.raises(AccordError, match="no force"):
        heavy.step(Command(NOTHING, wrench=np.ones(6)), 0.01)
    with pytest.raises(AccordError, match=r"friction.law is none: rolling .* or contact"):
        make_simulator(setup_of("teleop", PLANE, "friction={law: none}"))


class OnLevelGround(type(ROBOT)):
    """The robot without a terrain."""

    terrain = Robot.terrain


def test_a_robot_without_terrain_refuses_the_key():
    given = setup_of("bowl", "terrain.n=50")
    with pytest.raises(AccordError, match="has no terrain: leave out"):
        _ = Setup(OnLevelGround(), given.scenario).terrain
