"""Convex hulls that touch in an engine: where, how deep and with what force, against statics."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from roboaccord.contract.contact import Contact, ContactPoint, Fixture, MeshFixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.description.meshes import local_files
from roboaccord.engines import simulate_model
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_matrix, rpy_matrix
from scipy.spatial import ConvexHull

LIBRARIES = {"dart": "dartpy", "mujoco": "mujoco"}
MASS, G, STEP = 2.0, 9.81, 1e-3
NOTHING = Command(np.zeros(0))
LINK = """<link name="{name}"><inertial><mass value="{mass}"/>
<inertia ixx="0.004" iyy="0.004" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link>"""
SHAPE = """<collision><origin xyz="{xyz}" rpy="{rpy}"/><geometry>
<mesh filename="{file}" scale="{scale}"/></geometry></collision>"""


@pytest.fixture(params=sorted(LIBRARIES))
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    pytest.importorskip(LIBRARIES[name])
    return name


def box(x: float, y: float, z: float) -> Array:
    """Return the corners of a box about the origin (8, 3)."""
    return np.array([[i * x, j * y, k * z] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) / 2


def prism(radius: float, length: float) -> Array:
    """Return the corners of a prism of 12 sides along y, flat below (24, 3)."""
    angles = np.radians(15.0 + 30.0 * np.arange(12))
    ring = radius * np.column_stack([np.cos(angles), np.zeros(12), np.sin(angles)])
    half = np.array([0.0, length / 2, 0.0])
    return np.vstack([ring - half, ring + half])


def outward(points: Array) -> Array:
    """Return the triangles of a hull (k, 3), outward."""
    hull = ConvexHull(points)
    a, b, c = np.moveaxis(points[hull.simplices], 1, 0)
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0
    faces = hull.simplices.copy()
    faces[inward] = faces[inward][:, ::-1]
    return faces.astype(np.int64)


def write_obj(path: Path, points: Array) -> str:
    """Write a hull; return its name for a URDF."""
    lines = ["v {:.17g} {:.17g} {:.17g}".format(*point) for point in points]
    lines += ["f {} {} {}".format(*face) for face in outward(points) + 1]
    path.write_text("\n".join(lines) + "\n")
    return f"file://{path}"


def standing(name: str, points: Array) -> MeshFixture:
    return MeshFixture(name=name, vertices=points, faces=outward(points), convex=True)


def shape(file: str, xyz: str = "0 0 0", rpy: str = "0 0 0", scale: str = "1 1 1") -> str:
    return SHAPE.format(file=file, xyz=xyz, rpy=rpy, scale=scale)


def model_of(shapes: str, contact: Contact, **more: Any) -> EngineModel:
    """Return a body that floats, with its shapes."""
    link = LINK.format(name="base_link", mass=MASS, shapes=shapes)
    message: dict[str, Any] = {"physics_step": STEP, "gravity": G, **more}
    return EngineModel(
        urdf=f'<robot name="hull">{link}</robot>', base="free", joints=(),
        effort_limits=np.zeros(0), contact=contact, **message,
    )  # fmt: skip


def on(fixture: MeshFixture | Fixture, mu: float = 0.0, **more: Any) -> Contact:
    pair = ("base_link", fixture.name)
    return Contact(pairs=(pair,), friction=dict.fromkeys(pair, mu), fixtures=(fixture,), **more)


def at(position: Any, rotation: Array | None = None, velocity: Any = (0.0, 0.0, 0.0)) -> RobotState:
    """Return a state whose velocity (3,) is in the world."""
    turn = np.eye(3) if rotation is None else rotation
    twist = np.concatenate([turn.T @ np.array(velocity), np.zeros(3)])
    none = np.zeros(0)
    return RobotState(0.0, none, none, none, np.array(position), matrix_quaternion(turn), twist)


def deepest(simulator: EngineSimulator) -> ContactPoint:
    return max(simulator.contacts(), key=lambda touch: touch.depth)


def test_shapes_lie_where_the_description_puts_them(engine: str, tmp_path: Path) -> None:
    """Two hulls of one file, turned, shifted and scaled; the lowest corner dips in by 1 mm.

    In any posture, and none is missed; where it is follows from the corners alone.
    """
    points = prism(0.05, 0.12)
    file = write_obj(tmp_path / "prism.obj", points)
    shapes = shape(file, "0.1 0.02 0", "0.3 0 0.5", "1 2 1") + shape(file, "-0.1 0 0.05")
    corners = np.vstack(
        [
            (points * [1, 2, 1]) @ rpy_matrix(0.3, 0, 0.5).T + np.array([0.1, 0.02, 0]),
            points + np.array([-0.1, 0, 0.05]),
        ]
    )
    floor = standing("floor", box(2.0, 2.0, 0.1) - [0, 0, 0.05])
    simulator = simulate_model(model_of(shapes, on(floor), gravity=0.0), engine)
    rng = np.random.default_rng(1)
    for _ in range(100):
        turn = rpy_matrix(*rng.uniform(-3.1, 3.1, 3))
        turned = corners @ turn.T
        lowest = turned[np.argmin(turned[:, 2])]
        simulator.reset(at([0.0, 0.0, -lowest[2] - 1e-3], turn))
        simulator.step(NOTHING, STEP)
        touch = deepest(simulator)
        assert touch.depth == pytest.approx(1e-3, abs=2e-6)
        assert touch.position[:2] == pytest.approx(lowest[:2], abs=1e-3)
        assert touch.normal == pytest.approx([0.0, 0.0, -1.0], abs=1e-5)


def test_crossed_edges_touch_where_they_cross(engine: str, tmp_path: Path) -> None:
    """Two ridges at any angle, over the whole of their lengths; the normal is square to both."""
    roof = box(0.06, 0.4, 0.06) @ rpy_matrix(0, np.pi / 4, 0).T  # a ridge along y, at the top
    height = 0.03 * np.sqrt(2.0)
    keel = write_obj(tmp_path / "keel.obj", roof)
    simulator = simulate_model(
        model_of(shape(keel), on(standing("roof", roof)), gravity=0.0), engine
    )
    rng = np.random.default_rng(2)
    for _ in range(100):
        turn = rpy_matrix(0.0, 0.0, rng.uniform(0.8, 2.3))
        cross = np.array([*rng.uniform(-0.1, 0.1, 2), 2 * height - 2e-4])
        simulator.reset(at(cross, turn))
        simulator.step(NOTHING, STEP)
        touch = deepest(simulator)
        assert touch.depth == pytest.approx(2e-4, abs=1e-6)
        assert touch.normal == pytest.approx([0.0, 0.0, -1.0], abs=1e-5)
        along = turn[:, 1]  # the keel crosses the ridge x = 0 at this y
        y = cross[1] - cross[0] * along[1] / along[0]
        assert touch.position == pytest.approx([0.0, y, height], abs=1e-3)


def settle(simulator: EngineSimulator, ticks: int) -> list[RobotState]:
    return [simulator.step(NOTHING, 10 * STEP) for _ in range(ticks)]


@pytest.mark.parametrize("ground", ["hull", "box"])
def test_a_hull_at_rest_presses_with_its_weight(engine: str, ground: str, tmp_path: Path) -> None:
    """Sums of forces and moments are those of statics; it neither sinks, creeps nor chatters."""
    file = write_obj(tmp_path / "prism.obj", prism(0.05, 0.12))
    size = np.array([20.0, 20.0, 1.0])
    floor: MeshFixture | Fixture = standing("floor", prism(0.2, 0.5))
    top = 0.2 * np.cos(np.pi / 12)
    if ground == "box":
        floor, top = Fixture(name="floor", size=size, position=np.array([0, 0, -0.5])), 0.0
    contact = replace(on(floor), pairs=(("floor", "base_link"),))
    turned = {"dart": {"z_axis": [0.3, -0.5, 0.6]}}  # DART's own axes, of which nothing must show
    simulator = simulate_model(model_of(shape(file), contact, options=turned), engine)
    start = simulator.reset(at([0.01, 0.02, top + 0.05 * np.cos(np.pi / 12)]))
    states = settle(simulator, 100)
    touches = simulator.contacts()
    force = sum(touch.force * touch.normal for touch in touches)
    moment = sum(np.cross(t.position - states[-1].position, t.force * t.normal) for t in touches)
    assert force == pytest.approx([0.0, 0.0, MASS * G], abs=1e-3 * MASS * G)
    assert moment == pytest.approx(np.zeros(3), abs=1e-3 * MASS * G * 0.01)
    assert max(touch.depth for touch in touches) < 1e-5
    assert touches[0].pair == ("floor", "base_link")
    places = np.array([state.position for state in states[50:]])
    assert np.ptp(places, axis=0) == pytest.approx(np.zeros(3), abs=1e-6)
    assert places[-1] == pytest.approx(start.position, abs=1e-5)
    assert states[-1].twist == pytest.approx(np.zeros(6), abs=1e-4)


def test_a_casing_slides_over_a_tube_without_loss(engine: str, tmp_path: Path) -> None:
    """Without friction nothing holds it, be it over a face, across edges, or along them."""
    file = write_obj(tmp_path / "casing.obj", prism(0.05, 0.3))
    tube = standing("tube", prism(0.03, 0.6) @ rpy_matrix(0, 0, np.pi / 2).T)
    simulator = simulate_model(model_of(shape(file), on(tube)), engine)
    height = 0.08 * np.cos(np.pi / 12)
    simulator.reset(at([-0.04, -0.003, height], velocity=[0.3, 0.03, 0.0]))
    end = settle(simulator, 20)[-1]
    velocity = quaternion_matrix(end.orientation) @ end.twist[:3]
    assert velocity == pytest.approx([0.3, 0.03, 0.0], abs=1e-3)
    assert end.position == pytest.approx([0.02, 0.003, height], abs=1e-4)


def on_its_corner(file: Path) -> tuple[str, Array, float]:
    """Write a cube; return its name, the turn that stands it on a corner, and the radius [m]."""
    tilt = np.arctan(1.0 / np.sqrt(2.0))
    return write_obj(file, box(0.1, 0.1, 0.1)), rpy_matrix(np.pi / 4, tilt, 0), 0.05 * np.sqrt(3.0)


def test_a_hull_bounces_to_the_square_of_the_restitution(tmp_path: Path) -> None:
    """From h to e^2 h; a step before or after is 1e-4 s at 2 m/s, down and up."""
    pytest.importorskip("dartpy")
    file, turn, radius = on_its_corner(tmp_path / "cube.obj")
    contact = on(standing("floor", box(1.0, 1.0, 0.1) - [0, 0, 0.05]), restitution=0.5)
    simulator = simulate_model(model_of(shape(file), contact, physics_step=1e-4), "dart")
    simulator.reset(at([0.0, 0.0, radius + 0.2], turn))
    heights = [simulator.step(NOTHING, 1e-3).position[2] - radius for _ in range(350)]
    fall = np.sqrt(2 * 0.2 / G)
    assert heights[int(fall / 1e-3)] < 0.01
    assert max(heights[int(fall / 1e-3) + 10 :]) == pytest.approx(0.25 * 0.2, abs=4e-4)


def test_mujoco_has_no_restitution(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = write_obj(tmp_path / "cube.obj", box(0.1, 0.1, 0.1))
    contact = on(standing("floor", box(1, 1, 0.1)), restitution=0.5)
    with pytest.raises(AccordError, match="MuJoCo has no coefficient of restitution"):
        simulate_model(model_of(shape(file), contact), "mujoco")


def test_a_pair_that_begins_to_touch_makes_one_event(engine: str, tmp_path: Path) -> None:
    """One event as it lands, with the impulse of the momentum balance; none while it rests."""
    file, turn, radius = on_its_corner(tmp_path / "cube.obj")
    floor = standing("floor", box(1.0, 1.0, 0.1) - [0, 0, 0.05])
    model = model_of(shape(file), on(floor), contact_events=True)
    simulator = simulate_model(model, engine)
    simulator.reset(at([0.0, 0.0, radius + 0.05], turn))
    fall = np.sqrt(2 * 0.05 / G)
    before = settle(simulator, 10)[-1]
    assert not simulator.take_events()
    after = simulator.step(NOTHING, 10 * STEP)
    (event,) = simulator.take_events()
    assert (event.kind, event.subject) == ("contact", "base_link floor")
    assert event.time == pytest.approx(fall, abs=2 * STEP)
    change = after.twist[:3] - before.twist[:3]  # it does not turn
    lost = MASS * (turn @ change)[2] + MASS * G * 10 * STEP
    assert event.impulse == pytest.approx(lost, abs=1e-6)
    assert event.impulse > 0.9 * MASS * G * fall
    quiet = simulate_model(replace(model, contact_events=False), engine)
    quiet.reset(at([0.0, 0.0, radius + 0.05], turn))
    settle(quiet, 12)
    assert not quiet.take_events()


def test_a_reset_forgets_what_touched(engine: str, tmp_path: Path) -> None:
    """The same start gives the same motion to the last bit, whatever was before."""
    file = write_obj(tmp_path / "prism.obj", prism(0.05, 0.12))
    floor = standing("floor", box(1.0, 1.0, 0.1) - [0, 0, 0.05])
    simulator = simulate_model(model_of(shape(file), on(floor, 0.4)), engine)
    runs = []
    for _ in range(2):
        simulator.reset(at([0.0, 0.0, 0.06], rpy_matrix(0.3, 0.2, 0.1), [0.2, 0.1, 0.0]))
        assert not simulator.contacts()
        runs.append(settle(simulator, 30)[-1])
        assert simulator.contacts()
    assert np.array_equal(runs[0].position, runs[1].position)
    assert np.array_equal(runs[0].twist, runs[1].twist)


ARM = """<robot name="arm">{base}
  {turned}
  <joint name="turn" type="continuous"><parent link="base_link"/><child link="turned_link"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0 0.6 0.8"/></joint>
  {slid}
  <joint name="slide" type="prismatic"><parent link="turned_link"/><child link="slid_link"/>
    <origin xyz="0.2 0 0.1" rpy="0.2 0 0.1"/><axis xyz="0.6 0 0.8"/>
    <limit lower="-0.2" upper="0.02" effort="9" velocity="9"/></joint>
</robot>"""


def test_the_units_that_hulls_need_in_dart_change_nothing(tmp_path: Path) -> None:
    """A tumbling arm with a sliding joint, its stop, a wrench and a spring, hulls touching or not.

    DART computes in centimetres where hulls can touch, and in metres where nothing can.
    """
    pytest.importorskip("dartpy")
    file = shape(write_obj(tmp_path / "cube.obj", box(0.1, 0.1, 0.1)))
    links = {
        name: LINK.format(name=f"{name}_link", mass=1.5, shapes=file)
        for name in ("base", "turned", "slid")
    }
    far = replace(standing("far", box(1, 1, 1)), position=np.array([9.0, 0.0, 0.0]))
    state = RobotState(
        0.0, np.array([0.4, 0.0]), np.array([1.0, 0.3]), np.zeros(2), np.array([0.3, 0.2, 0.1]),
        matrix_quaternion(rpy_matrix(0.5, -0.3, 0.8)), np.array([0.1, 0.2, 0.3, 1.0, -2.0, 3.0]),
    )  # fmt: skip
    motions = []
    for contact in (None, on(far)):
        model = EngineModel(
            urdf=ARM.format(**links), base="free", joints=("turn", "slide"), contact=contact,
            effort_limits=np.ones(2), physics_step=STEP, gravity=G, preload={"slide": 0.5},
        )  # fmt: skip
        simulator = simulate_model(model, "dart")
        simulator.reset(state)
        faster = simulator.acceleration(state, np.array([0.3, -0.2]))
        wrench = np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
        end = simulator.step(Command(np.array([0.2, 0.1]), wrench=wrench), 0.2)
        motions.append(
            [
                *(simulator.mass_matrix(state), simulator.gravity_forces(state)),
                *(faster.base, faster.joints, end.q, end.qd, end.position, end.orientation),
                *(end.twist, np.array(sorted(simulator.masses().values()))),
            ]
        )
    for metres, centimetres in zip(*motions, strict=True):
        assert centimetres == pytest.approx(metres, rel=1e-9, abs=1e-9)
    assert motions[0][4][1] == pytest.approx(0.02, abs=1e-3)  # at its stop


def test_a_pair_needs_shapes(engine: str) -> None:
    floor = standing("floor", box(1, 1, 1))
    with pytest.raises(AccordError, match="base_link and floor: base_link has no shape"):
        simulate_model(model_of("", on(floor)), engine)


def test_a_dented_mesh_beside_hulls_is_refused(engine: str, tmp_path: Path) -> None:
    file = write_obj(tmp_path / "cube.obj", box(0.1, 0.1, 0.1))
    dented = replace(standing("rock", box(1, 1, 1)), convex=False)
    with pytest.raises(AccordError, match="rock"):
        simulate_model(model_of(shape(file), on(dented)), engine)


def test_meshes_by_package_become_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "share" / "rock_files"
    (folder / "meshes").mkdir(parents=True)
    (folder / "package.xml").write_text("<package/>")
    write_obj(folder / "meshes" / "cube.obj", box(0.1, 0.1, 0.1))
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path))
    urdf = '<robot><mesh filename="package://{}"/></robot>'
    found = local_files(urdf.format("rock_files/meshes/cube.obj"))
    assert f'"file://{folder}/meshes/cube.obj"' in found
    for name in ("rock_files/meshes/no.obj", "no_files/cube.obj", "/cube.obj", "no.files/cube.obj"):
        with pytest.raises(AccordError, match=r"^(no mesh|package|the description names mesh)"):
            local_files(urdf.format(name))
