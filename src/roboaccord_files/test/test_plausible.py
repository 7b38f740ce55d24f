"""What a link weighs and where, against its shapes: bounds, closed forms, whole robots."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from roboaccord.cli.main import run
from roboaccord.description.tree import MOMENTS
from roboaccord.description.urdf_file import read_urdf
from roboaccord.numerics.rotations import rpy_matrix
from roboaccord_files.repair.extents import DIRECTIONS, extremes
from roboaccord_files.rules.bodies import CORNERS, Solid
from roboaccord_files.rules.find import findings
from roboaccord_files.rules.sides import other_side

SIZES = (np.array([0.1, 0.16, 0.2]), np.array([0.12, 0.2, 0.16]), np.array([0.2, 0.14, 0.1]))
TURN = rpy_matrix(0.4, 0.3, 0.5)


def link(name: str, mass: float, size: np.ndarray, sign: float = 1.0, turn: str = "0.4 0.3 0.5"):
    """Return a full box, turned, whose products of inertia have a sign."""
    squares = size**2 / 12.0
    inertia = mass * TURN @ np.diag(squares.sum() - squares) @ TURN.T
    values = dict(zip(MOMENTS, inertia[np.triu_indices(3)], strict=True))
    tensor = " ".join(f'{k}="{v * (1.0 if k[1] == k[2] else sign)}"' for k, v in values.items())
    box = f'<box size="{" ".join(map(str, size))}"/>'
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia {tensor}/></inertial>'
        f'<visual><origin rpy="{turn}"/><geometry>{box}</geometry></visual></link>'
    )


def rules(folder: Path, *links: str, mass: float = 0.0) -> set[str]:
    """Return the rules that find something in a robot of links, fixed together."""
    names = [ET.fromstring(each).get("name") for each in links]
    joints = (
        f'<joint name="j_{n}" type="fixed"><parent link="{names[0]}"/><child link="{n}"/></joint>'
        for n in names[1:]
    )
    (folder / "r.urdf").write_text(f'<robot name="r">{"".join((*links, *joints))}</robot>')
    found = findings(read_urdf(folder / "r.urdf"), mass)
    return {each.rule for each in found if each.severity != "note"}


def of_points(points: np.ndarray) -> Solid:
    element = ET.Element("link")
    return Solid(element, element, 1.0, np.zeros(3), np.eye(3), extremes(points), np.nan)


def test_the_hull_has_the_moments_of_a_box_and_a_ball():
    """Closed forms, of a box exactly, also turned; a ball of points is as large as qhull's."""
    spatial = pytest.importorskip("scipy.spatial")
    for turn in (np.eye(3), TURN):
        for size in SIZES:
            volume, about = of_points(CORNERS * size @ turn.T).hull
            assert volume == pytest.approx(size.prod(), rel=1e-9)
            np.testing.assert_allclose(about, turn @ np.diag(size**2) @ turn.T / 12.0, atol=1e-15)
    volume, about = of_points(0.1 * DIRECTIONS).hull
    assert volume == pytest.approx(spatial.ConvexHull(0.1 * DIRECTIONS).volume, rel=2e-3)
    np.testing.assert_allclose(np.diag(about), 0.1**2 / 5.0, rtol=0.02)
    cloud = extremes(np.random.default_rng(0).normal(size=(3000, 3)) * (0.1, 0.2, 0.4))
    assert 0.96 < of_points(cloud).hull[0] / spatial.ConvexHull(cloud).volume <= 1.0


def test_many_points_have_the_extremes_of_all():
    points = np.random.default_rng(0).uniform(-0.5, 0.5, (20_000, 3)) * (0.1, 0.2, 2.0)
    every, some = points @ DIRECTIONS.T, extremes(points) @ DIRECTIONS.T
    reach = every.max(axis=0)
    assert len(extremes(points)) <= len(DIRECTIONS)
    assert np.all(some.max(axis=0) > 0.97 * reach)


def test_full_boxes_are_plausible_and_of_steel_are_not(tmp_path: Path):
    """One density of 1300 kg/m^3 is no default; each mass counts once."""
    kg = [1300.0 * size.prod() for size in SIZES]
    water = [link(f"l{i}", m, s) for i, (m, s) in enumerate(zip(kg, SIZES, strict=True))]
    steel = [link(f"l{i}", 6.04 * m, s) for i, (m, s) in enumerate(zip(kg, SIZES, strict=True))]
    assert rules(tmp_path, *water) == set()
    assert rules(tmp_path, *steel) == {"density-alike"}
    for none in (0.77, 1.0):
        links = [link(f"l{i}", none * m, s) for i, (m, s) in enumerate(zip(kg, SIZES, strict=True))]
        assert (rules(tmp_path, *links) == {"density-alike"}) == (none == 0.77)
    assert rules(tmp_path, *(link(f"l{i}", 6.04 * kg[0], SIZES[0]) for i in range(3))) == set()
    twins = [link(f"r{i}", 6.04 * kg[2], SIZES[2]) for i in range(6)]
    assert rules(tmp_path, *steel, *twins) == {"density-alike"}


def test_no_radius_of_gyration_is_beyond_the_farthest_point(tmp_path: Path):
    """A cube of 1 m: all its mass at the corners has .5 kg m^2 a kg; 1 is none, along no line."""
    box = '<visual><geometry><box size="1 1 1"/></geometry></visual>'
    for moment, there in ((0.5, False), (1.0, True)):
        tensor = " ".join(f'{key}="{moment if key[1] == key[2] else 0}"' for key in MOMENTS)
        inertial = f'<inertial><mass value="1"/><inertia {tensor}/></inertial>'
        seen = rules(tmp_path, f'<link name="a">{inertial}{box}</link>')
        assert ("gyration-beyond-shape" in seen) == there


def test_products_of_the_other_sign_are_those_of_several_links(tmp_path: Path):
    def robot(sign: float) -> list[str]:
        return [link(f"l{i}", 1.0 + i, s, sign) for i, s in enumerate(SIZES)]

    assert rules(tmp_path, *robot(1.0)) == set()
    assert rules(tmp_path, *robot(-1.0)) == {"products-sign"}
    assert rules(tmp_path, *robot(-1.0)[:1], *robot(1.0)[1:]) == set()
    along, again = link("along", 4.0, SIZES[0]), link("again", 5.0, SIZES[0], -1.0)
    assert rules(tmp_path, *robot(-1.0), along) == set()
    assert rules(tmp_path, *robot(-1.0), along, again) == {"products-sign"}


def test_left_and_right_weigh_the_same(tmp_path: Path):
    def robot(mass: float, arm: str = "left_arm") -> list[str]:
        each = ("base", 3.0), (arm, mass), ("right_arm", 1.0), ("L_leg", 2.0), ("R_leg", 2.0)
        return [link(name, m, SIZES[0]) for name, m in each]

    assert rules(tmp_path, *robot(1.0)) == set()
    assert rules(tmp_path, *robot(1.03)) == {"mirrored-mass"}
    assert rules(tmp_path, *robot(1.03, "arm")) == set()
    none = [re.sub(r'(i[xyz]{2})="[^"]*"', r'\1="0"', each) for each in robot(1.0)]
    assert "mirrored-mass" not in rules(tmp_path, *none)
    assert other_side("front_leftR_x") == "front_rightL_x" and other_side("fl1") == "fl1"


def test_the_whole_is_held_against_what_it_weighs(tmp_path: Path, capsys):
    robot = [link(f"l{i}", 1.0 + i, s) for i, s in enumerate(SIZES)]
    assert rules(tmp_path, *robot, mass=6.2) == set()
    assert run(["check", str(tmp_path / "r.urdf"), "--mass", "2"]) == 1
    printed = " ".join(capsys.readouterr().out.split())  # however lines are wrapped
    assert "it weighs 6 kg, and not 2; the heaviest links: l2 3, l1 2" in printed


@pytest.mark.parametrize(("scale", "factor"), [("1000 1000 1000", "0.001"), ("100 100 100", "0.01"),
                                               ("0.01 0.01 0.01", "100")])  # fmt: skip
def test_a_mesh_of_another_unit_is_scaled_by_the_power_of_ten(tmp_path, scale, factor):
    """Of two links, 2 m of an arm of 2 m."""
    points = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS * (2.0, 0.2, 0.2))
    (tmp_path / "a.obj").write_text(points)
    mesh = f'<visual><geometry><mesh filename="a.obj" scale="{scale}"/></geometry></visual>'
    links = "".join(f'<link name="{n}">{mesh}</link>' for n in "ab")
    joint = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/>{}</joint></robot>'
    text = f'<robot name="r">{links}' + joint.format('<origin xyz="2 0 0"/>')
    (tmp_path / "r.urdf").write_text(text)
    found = [e.cure for e in findings(tmp_path / "r.urdf") if e.rule == "mesh-scale"]
    assert len(found) == 2 and f"scale it by {factor}," in found[0]


def test_what_mujoco_alone_makes_of_masses_is_what_it_makes(tmp_path: Path):
    """Raw MuJoCo as oracle: masses of shapes, then the bound; and a rotor's inertia by hand."""
    mujoco = pytest.importorskip("mujoco")
    shape = "<collision><geometry>{}</geometry></collision>"
    bodies = {"a": (2.0, '<box size="0.1 0.2 0.1"/>'), "b": (0.5, '<sphere radius="0.05"/>'),
              "c": (0.1, "")}  # fmt: skip
    moments = 'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"'
    links = "".join(
        f'<link name="{n}"><inertial><mass value="{m}"/><inertia {moments}/></inertial>'
        f"{shape.format(g) if g else ''}</link>"
        for n, (m, g) in bodies.items()
    )
    joints = "".join(
        f'<joint name="{p}{c}" type="continuous"><parent link="{p}"/><child link="{c}"/>'
        '<origin xyz="0 0 1"/><axis xyz="0 1 0"/></joint>'
        for p, c in ("ab", "bc")
    )
    compiler = '<mujoco><compiler inertiafromgeom="true" boundmass="0.7"/></mujoco>'
    motor = (
        '<transmission name="t"><joint name="ab"/><actuator name="m"><drake:gear_ratio value="50"/>'
    )
    motor += '<drake:rotor_inertia value="2e-5"/></actuator></transmission>'
    text = f'<robot name="r" xmlns:drake="http://drake.mit.edu">{compiler}{links}{joints}{motor}</robot>'
    (tmp_path / "r.urdf").write_text(text)
    said = {each.rule: each.message for each in findings(tmp_path / "r.urdf")}
    spec = mujoco.MjSpec.from_string(text.replace("boundmass", 'fusestatic="false" boundmass'))
    model = spec.compile()
    masses = [
        f"{n} {model.body(n).mass[0]:.4g} kg for {m:g}" for n, (m, _) in bodies.items() if n != "a"
    ]
    assert all(each in said["mujoco-masses"] for each in masses) and len(masses) == 2
    assert "adds 0.05 kg m^2" in said["drake-rotor"] and "joint ab" in said["drake-rotor"]


def test_a_rotor_that_is_no_number_is_one_line(tmp_path):
    path = tmp_path / "r.urdf"
    actuator = '<actuator name="m"><drake:rotor_inertia value="abc"/></actuator>'
    transmission = f'<transmission name="t"><joint name="j"/>{actuator}</transmission>'
    drake = 'xmlns:drake="http://drake.mit.edu"'
    path.write_text(f'<robot name="r" {drake}><link name="a"/>{transmission}</robot>')
    assert "number-invalid" in {each.rule for each in findings(path)}


def test_a_reduction_beyond_all_numbers_is_one_line(tmp_path):
    """As in urdfdom's autogenerated.urdf, on which check ended with a traceback."""
    drive = '<joint name="j"/><mechanicalReduction>-1e200</mechanicalReduction>'
    text = f'<robot name="r"><link name="a"/><transmission name="t">{drive}</transmission></robot>'
    (tmp_path / "r.urdf").write_text(text)
    assert "reduction-inertia" in {each.rule for each in findings(tmp_path / "r.urdf")}
