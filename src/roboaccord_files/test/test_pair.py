"""One robot written twice is one, and what was changed in it is named and sized."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from roboaccord.cli.main import run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.engines.differences import relative_at
from roboaccord.engines.formats import read_robot
from roboaccord.engines.reading import TreeReading, draw_question, read_tree
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_rpy, rpy_matrix
from roboaccord_files.parity.door import parity
from roboaccord_files.parity.frames import IDENTITY, Frame
from roboaccord_files.parity.pair import TOLERANCE, Pair
from roboaccord_files.parity.pair_comparison import Comparison
from roboaccord_files.parity.pair_shown import pair_lines


class Part(NamedTuple):
    """Hold a link and the joint that leads to it, in the frame of its parent."""

    name: str
    parent: str = ""
    kind: str = "revolute"
    pose: Frame = IDENTITY
    axis: Array = IDENTITY.rotation[2]
    upper: float = 1.5
    effort: float = 20.0
    damping: float = 0.3
    friction: float = 0.2
    mass: float = 0.0
    centre: Array = IDENTITY.position
    inertia: Array = 0.0 * IDENTITY.rotation


def part(name: str, parent: str, xyz: str, axis: str, mass: float, kind: str = "revolute") -> Part:
    """Return a part of lengths of its own, none of its products of inertia 0."""
    rng = np.random.default_rng(list(name.encode()))
    turn = rpy_matrix(*rng.uniform(-1.0, 1.0, 3))
    pose = Frame(np.array([float(x) for x in xyz.split()]), rpy_matrix(0.1, -0.2, 0.3))
    along = np.array([float(x) for x in axis.split()])
    inertia = turn @ np.diag(mass * np.array([0.008, 0.011, 0.015])) @ turn.T
    return Part(name, parent, kind, pose, along, mass=mass, inertia=inertia,
                centre=rng.uniform(-0.1, 0.1, 3))  # fmt: skip


ROBOT = (
    part("base", "", "0 0 0", "0 0 1", 5.0),
    part("box", "base", "0.2 0 0.1", "0 0 1", 0.8, "fixed"),
    part("left", "base", "0.1 0.3 0.2", "0 0 1", 2.0),
    part("fore", "left", "0.05 0.02 0.4", "0 1 0", 1.4),
    part("hand", "fore", "0.3 0 0.1", "0.6 0 0.8", 0.7),
    part("tool", "hand", "0 0.1 0.1", "0 0 1", 0.3, "fixed"),
    part("right", "base", "0.1 -0.3 0.2", "0 0 1", 2.0),
    part("slide", "right", "0.1 0 0.3", "1 0 0", 1.1, "prismatic"),
)
Robot = Sequence[Part]


def inside(one: Frame, link: Part) -> Part:
    """Return a part in a frame that has a pose in its own."""
    centre = one.rotation.T @ (link.centre - one.position)
    inertia = one.rotation.T @ link.inertia @ one.rotation
    return link._replace(axis=one.rotation.T @ link.axis, centre=centre, inertia=inertia)


def moved(robot: Robot, root: bool = True) -> Robot:
    """Return a robot with other frames; those of hinges stay on their axes."""
    rng, frames = np.random.default_rng(7), {"": IDENTITY}
    for each in robot:
        turn, slide = rpy_matrix(*rng.uniform(-2.0, 2.0, 3)), rng.uniform(-0.3, 0.3, 3)
        hinge = each.kind == "revolute" and each.parent
        frames[each.name] = Frame(each.axis * slide[0] if hinge else slide, turn)
    if not root:
        frames["base"] = IDENTITY
    back = {name: pose.inverse for name, pose in frames.items()}
    return [
        inside(frames[p.name], p)._replace(pose=back[p.parent].then(p.pose).then(frames[p.name]))
        for p in robot
    ]


def renamed(robot: Robot) -> Robot:
    """Return a robot whose links and joints have other names, but for the root."""
    names = {p.name: p.name if p.name == "base" else f"n{i}" for i, p in enumerate(robot)}
    return [p._replace(name=names[p.name], parent=names.get(p.parent, "")) for p in robot]


def reordered(robot: Robot) -> Robot:
    """Return a robot whose parts stand in another order."""
    return [*robot[::-1]]


def lumped(robot: Robot) -> Robot:
    """Return a robot whose fixed links are part of those that carry them."""
    found = {p.name: p for p in robot}
    for child in [p for p in robot if p.kind == "fixed"]:
        one, other = found[child.parent], inside(child.pose.inverse, child)
        mass = one.mass + other.mass
        centre = (one.mass * one.centre + other.mass * other.centre) / mass
        inertia = one.inertia + other.inertia
        for each in (one, other):
            r = each.centre - centre
            inertia = inertia + each.mass * (r @ r * np.eye(3) - np.outer(r, r))
        found[one.name] = one._replace(mass=mass, centre=centre, inertia=inertia)
        del found[child.name]
    return [*found.values()]


def text(values: Array | Sequence[float]) -> str:
    """Return numbers as XML has them."""
    return " ".join(repr(float(x)) for x in values)


def urdf(robot: Robot) -> str:
    """Return a robot as URDF."""
    rows = []
    for p in robot:
        xx, xy, xz, _, yy, yz, _, _, zz = (repr(float(x)) for x in p.inertia.flat)
        rows.append(
            f'<link name="{p.name}"><inertial><origin xyz="{text(p.centre)}"/>'
            f'<mass value="{p.mass!r}"/><inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" '
            f'iyz="{yz}" izz="{zz}"/></inertial></link>'
        )
        rpy = quaternion_rpy(matrix_quaternion(p.pose.rotation))
        if p.parent:
            rows.append(
                f'<joint name="to_{p.name}" type="{p.kind}"><parent link="{p.parent}"/>'
                f'<child link="{p.name}"/><origin xyz="{text(p.pose.position)}" rpy="{text(rpy)}"/>'
                f'<axis xyz="{text(p.axis)}"/><dynamics damping="{p.damping!r}" '
                f'friction="{p.friction!r}"/>'
                f'<limit lower="-1" upper="{p.upper!r}" effort="{p.effort!r}" velocity="2"/>'
                "</joint>"
            )
    return f'<robot name="r">{"".join(rows)}</robot>'


def mjcf(robot: Robot, parent: str = "") -> str:
    """Return a robot as MJCF, or what hangs on one of its links."""
    rows = []
    for p in (p for p in robot if p.parent == parent):
        x, y, z, w = matrix_quaternion(p.pose.rotation)
        full = p.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        joint = '<freejoint name="free"/>' if not parent else ""
        if parent and p.kind != "fixed":
            kind = "hinge" if p.kind == "revolute" else "slide"
            joint = (f'<joint name="to_{p.name}" type="{kind}" axis="{text(p.axis)}" limited="true"'
                     f' range="-1 {p.upper!r}" damping="{p.damping!r}"'
                     f' frictionloss="{p.friction!r}"/>')  # fmt: skip
        rows.append(
            f'<body name="{p.name}" pos="{text(p.pose.position)}" quat="{text([w, x, y, z])}">'
            f'{joint}<inertial pos="{text(p.centre)}" mass="{p.mass!r}" '
            f'fullinertia="{text(full)}"/>{mjcf(robot, p.name)}</body>'
        )
    if parent:
        return "".join(rows)
    options = '<compiler angle="radian" balanceinertia="false"/>'
    return f'<mujoco model="r">{options}<worldbody>{"".join(rows)}</worldbody></mujoco>'


def sdf(robot: Robot) -> str:
    """Return a robot as SDF."""
    rows = []
    for p in robot:
        xx, xy, xz, _, yy, yz, _, _, zz = (repr(float(x)) for x in p.inertia.flat)
        pose = text([*p.pose.position, *quaternion_rpy(matrix_quaternion(p.pose.rotation))])
        at = f'relative_to="{p.parent}"' if p.parent else ""
        rows.append(
            f'<link name="{p.name}"><pose {at}>{pose}</pose><inertial><pose>{text(p.centre)} 0 0 0'
            f"</pose><mass>{p.mass!r}</mass><inertia><ixx>{xx}</ixx><ixy>{xy}</ixy><ixz>{xz}</ixz>"
            f"<iyy>{yy}</iyy><iyz>{yz}</iyz><izz>{zz}</izz></inertia></inertial></link>"
        )
        if p.parent:
            axis = (f"<axis><xyz>{text(p.axis)}</xyz><limit><lower>-1</lower><upper>{p.upper!r}"
                    f"</upper><effort>{p.effort!r}</effort><velocity>2</velocity></limit><dynamics>"
                    f"<damping>{p.damping!r}</damping><friction>{p.friction!r}</friction></dynamics>"
                    "</axis>")  # fmt: skip
            rows.append(
                f'<joint name="to_{p.name}" type="{p.kind}"><parent>{p.parent}</parent><child>'
                f"{p.name}</child>{axis if p.kind != 'fixed' else ''}</joint>"
            )
    return f'<sdf version="1.9"><model name="r">{"".join(rows)}</model></sdf>'


def compared(folder: Path, one: str, other: str, end: str = "urdf", **names: str) -> Pair:
    """Return what comes of two texts."""
    (folder / "one.urdf").write_text(one)
    (folder / f"other.{end}").write_text(other)
    files = [read_robot(folder / name) for name in ("one.urdf", f"other.{end}")]
    return Comparison(files[0], files[1], names, TOLERANCE, 0).result()


def six_digits(robot: Robot) -> str:
    """Return a robot as MJCF, its numbers in as many digits as MuJoCo writes."""
    return re.sub(r"-?[0-9.]+(e-?[0-9]+)?", lambda m: f"{float(m[0]):.6g}", mjcf(robot))


SAME: Mapping[str, tuple[Callable[[Robot], str], Callable[[Robot], Robot]]] = {
    "frames": (urdf, moved),
    "frames but the root's": (urdf, lambda r: moved(r, root=False)),
    "names": (urdf, renamed),
    "order": (urdf, reordered),
    "lumped": (urdf, lumped),
    "all of it": (urdf, lambda r: reordered(renamed(lumped(moved(r))))),
    "MJCF": (mjcf, tuple),
    "MJCF with other frames, lumped": (mjcf, lambda r: lumped(moved(r))),
    "MJCF of six digits": (six_digits, tuple),
    "SDF with other names and frames": (sdf, lambda r: renamed(moved(r))),
}


QUICK = ("all of it", "MJCF")


@pytest.mark.parametrize(
    "how", [pytest.param(how, marks=[pytest.mark.slow] * (how not in QUICK)) for how in SAME]
)
def test_one_robot_written_twice_is_one(tmp_path: Path, how: str) -> None:
    write, change = SAME[how]
    end = {urdf: "urdf", sdf: "sdf"}.get(write, "xml")
    if end == "sdf":
        pytest.importorskip("pydrake")
    found = compared(tmp_path, urdf(ROBOT), write(change(ROBOT)), end)
    digits = 1e-4 if write is six_digits else 1e-9
    assert found.ok and found.acceleration is not None and found.acceleration < digits
    assert any(note.startswith("velocity") for note in found.notes) == (end == "xml")


def longer(pose: Frame) -> Frame:
    """Return a pose 1 % farther away."""
    return pose._replace(position=1.01 * pose.position)


def turned(x: float, y: float) -> Callable[[Frame], Frame]:
    """Return what turns a pose about its own axes."""
    return lambda pose: pose._replace(rotation=pose.rotation @ rpy_matrix(x, y, 0.0))


def grown(value: Any) -> Any:
    """Return a value 1 % larger."""
    return 1.01 * value


CHANGES: Sequence[tuple[str, str, Callable[[Any], Any], str, str, float]] = (
    ("tool", "mass", grown, "mass", "tool", 0.01),
    ("base", "mass", grown, "mass", "base", 0.01),
    ("hand", "inertia", grown, "inertia", "hand", 0.01),
    ("fore", "centre", grown, "centre", "fore", 0.01 * np.abs(ROBOT[3].centre).max()),
    ("fore", "pose", longer, "origin", "to_fore", 0.004),
    ("hand", "pose", longer, "origin", "to_hand", 0.003),
    ("fore", "axis", lambda axis: rpy_matrix(0.01, 0.0, 0.0) @ axis, "axis", "to_fore", 0.01),
    ("fore", "pose", turned(0.01, 0.0), "axis", "to_fore", 0.01),
    ("fore", "pose", turned(0.0, 0.01), "zero", "to_fore", 0.01),
    ("left", "upper", grown, "limit", "to_left", 0.015),
    ("left", "effort", grown, "effort", "to_left", 0.01),
    ("left", "damping", grown, "damping", "to_left", 0.01),
    ("left", "friction", grown, "friction", "to_left", 0.01),
)


@pytest.mark.parametrize(("part", "key", "grow", "quantity", "where", "size"), CHANGES)
@pytest.mark.parametrize("how", [tuple, lambda r: reordered(renamed(moved(r)))])
@pytest.mark.slow
def test_what_is_changed_by_one_percent_is_named_and_sized(
    tmp_path: Path,
    how: Callable[[Robot], Robot],
    part: str,
    key: str,
    grow: Callable[[Any], Any],
    quantity: str,
    where: str,
    size: float,
) -> None:
    changed = [p._replace(**{key: grow(getattr(p, key))}) if p.name == part else p for p in ROBOT]
    (found,) = compared(tmp_path, urdf(ROBOT), urdf(how(changed))).differences
    assert (found.cause.quantity, found.cause.where) == (quantity, where)
    assert abs(found.cause.size or 0.0) == pytest.approx(size, rel=1e-6)
    assert found.effect == 0.0 if quantity in ("limit", "effort") else 1e-4 < found.effect < 0.1


def test_differences_are_sorted_by_their_effect_which_is_that_of_the_files(tmp_path: Path) -> None:
    """One alone changes accelerations as the file with it does."""
    changes = {"tool": 1.3, "fore": 1.01, "right": 2.0}
    light = [p._replace(damping=0.0, friction=0.0) for p in ROBOT]
    heavier = [p._replace(mass=changes.get(p.name, 1.0) * p.mass) for p in light]
    found = compared(tmp_path, urdf(light), urdf(heavier))
    assert [d.cause.where for d in found.differences] == ["right", "tool", "fore"]
    tree = read_tree(urdf(light))
    question = draw_question(tree, "free", 0)
    own = TreeReading(tree, question).accelerations(question.states)
    for names, size in (
        *(({d.cause.where}, d.effect) for d in found.differences),
        ({"right", "tool", "fore"}, found.acceleration),
    ):
        robot = [q if q.name in names else p for p, q in zip(light, heavier, strict=True)]
        other = TreeReading(read_tree(urdf(robot)), question).accelerations(question.states)
        apart = max(relative_at(*pair)[0] for pair in zip(other, own, strict=True))
        assert size == pytest.approx(apart, rel=1e-9)


def test_a_mass_that_only_the_second_has_acts_where_it_is(tmp_path: Path) -> None:
    whole = [p._replace(damping=0.0, friction=0.0) for p in ROBOT]
    nothing = {"mass": 0.0, "centre": np.zeros(3), "inertia": np.zeros((3, 3))}
    bare = [p._replace(**nothing) if p.name == "tool" else p for p in whole]
    trees = [read_tree(urdf(robot)) for robot in (bare, whole)]
    question = draw_question(trees[0], "free", 0)
    own, other = (TreeReading(tree, question).accelerations(question.states) for tree in trees)
    apart = max(relative_at(*pair)[0] for pair in zip(other, own, strict=True))
    found = compared(tmp_path, urdf(bare), urdf(whole))
    assert {d.cause.where for d in found.differences} == {"tool"}
    assert found.acceleration == pytest.approx(apart, rel=1e-9)


@pytest.mark.slow
def test_joints_that_one_lacks_and_names_that_the_user_maps(tmp_path: Path) -> None:
    """A joint that is fixed in one is one difference; two of one name elsewhere are mapped."""
    stiff = [p._replace(kind="fixed") if p.name == "fore" else p for p in ROBOT]
    found = compared(tmp_path, urdf(ROBOT), urdf(stiff))
    assert [(d.cause.quantity, d.cause.where) for d in found.differences] == [("kind", "to_fore")]
    short = [p for p in ROBOT if p.name != "slide"]
    found = compared(tmp_path, urdf(ROBOT), urdf(short))
    assert [(d.cause.quantity, d.cause.where) for d in found.differences] == [("joint", "to_slide")]
    swap = {"left": "right", "right": "left"}
    other = [p._replace(name=swap.get(p.name, p.name), parent=swap.get(p.parent, p.parent))
             for p in ROBOT]  # fmt: skip
    assert not compared(tmp_path, urdf(ROBOT), urdf(other)).ok
    names = {"left": "right", "right": "left", "to_left": "to_right", "to_right": "to_left"}
    assert compared(tmp_path, urdf(ROBOT), urdf(other), **names).ok


def test_who_leads_and_what_a_format_cannot_state_is_no_difference(tmp_path: Path) -> None:
    """q_right = -2 q_left + .1 either way; a servo of MJCF; but a base that weighs nothing is."""

    def led(follower: str, lead: str, times: float, offset: float) -> str:
        mimic = f'<mimic joint="{lead}" multiplier="{times}" offset="{offset}"/>'
        return re.sub(f'(name="{follower}" .*?)(<axis)', rf"\1{mimic}\2", urdf(ROBOT), count=1)

    one = led("to_right", "to_left", -2.0, 0.1)
    assert compared(tmp_path, one, led("to_left", "to_right", -0.5, 0.05)).ok
    (found,) = compared(tmp_path, one, led("to_left", "to_right", -0.5, 0.1)).differences
    assert (found.cause.quantity, found.values) == ("mimic", (0.1, pytest.approx(0.2)))
    (found,) = compared(tmp_path, one, urdf(ROBOT)).differences
    assert (found.cause.quantity, found.cause.axis) == ("mimic", "joint")
    servo = '<actuator><position joint="to_left" kp="50"/></actuator></mujoco>'
    pair = compared(tmp_path, urdf(ROBOT), mjcf(ROBOT).replace("</mujoco>", servo), "xml")
    assert pair.ok and any(note.startswith("servo") for note in pair.notes)
    bare = re.sub(r'<freejoint name="free"/><inertial [^>]*>', "", mjcf(lumped(ROBOT)), count=1)
    (found,) = compared(tmp_path, urdf(lumped(ROBOT)), bare, "xml").differences
    assert (found.cause.quantity, found.cause.where, found.cause.size) == ("mass", "base", -1.0)


def test_what_mjcf_cannot_state_is_no_difference_from_sdf(tmp_path: Path) -> None:
    pytest.importorskip("pydrake")
    found = compared(tmp_path, sdf(ROBOT), mjcf(ROBOT), "xml")
    assert found.ok
    assert {note.split()[0] for note in found.notes} == {"effort", "velocity"}


def test_words_behind_a_file_are_its_own(tmp_path: Path, capsys: Any) -> None:
    """And JSON, page and SARIF have the difference, with its line."""
    text = urdf(ROBOT).replace('name="r"', 'xmlns:xacro="http://ros.org/wiki/xacro" name="r"')
    text = text.replace("><", ">\n<").replace('mass value="0.3"', 'mass value="$(arg m)"')
    a, b, page, log = (str(tmp_path / name) for name in ("a.xacro", "b.xacro", "p.html", "p.sarif"))
    for name in (a, b):
        Path(name).write_text(text)
    words = [a, "m:=0.3", b, "m:=0.303", "--page", page, "--sarif", log, "--json"]
    assert run(["parity", *words]) == 1
    (found,) = json.loads(capsys.readouterr().out)["differences"]
    assert (found["quantity"], found["where"], found["values"]) == ("mass", "tool", [0.3, 0.303])
    assert "0.303 kg" in Path(page).read_text()
    (result,) = json.loads(Path(log).read_text())["runs"][0]["results"]
    line = result["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert 'name="tool"' in text.splitlines()[line - 1]
    assert run(["parity", a, b, "m:=1", "c.urdf"]) == 2


@pytest.mark.slow
def test_the_function_and_the_terminal_have_the_same(tmp_path: Path, capsys: Any) -> None:
    heavier = [p._replace(mass=1.01 * p.mass) if p.name == "tool" else p for p in ROBOT]
    a, b = tmp_path / "a.urdf", tmp_path / "b.urdf"
    a.write_text(urdf(ROBOT))
    b.write_text(urdf(renamed(heavier)))
    found = parity(a, b)
    assert not found.ok and parity(read_robot(b), b).ok
    assert run(["parity", str(a), str(b)]) == 1
    out = capsys.readouterr().out
    assert re.search(r"mass +tool = n5 +0.3 +0.303 kg +\+1 %", out)
    assert all(str(line) in out for line in pair_lines(found))
    with pytest.raises(AccordError, match="is a folder"):
        parity(a, tmp_path)
    with pytest.raises(AccordError, match="the second has no link or joint q"):
        parity(a, b, names={"left": "q"})


MESHES = """<mujoco model="crane"><compiler meshdir="shapes" angle="radian"/><asset>
<mesh name="shell" file="shell.stl" scale=".001 .001 .001"/>
<texture name="paint" type="cube" file="paint.png"/></asset><worldbody><body name="mast">
<joint name="turn" axis="0 0 1" range="-2 2"/><geom type="mesh" mesh="shell"/>
<inertial mass="{mass}" pos=".1 0 .2" diaginertia=".3 .2 .1"/><body name="hook" pos="0 0 .7">
<joint name="lift" axis="0 1 0" range="-1 1"/>{weight}<geom type="mesh" mesh="shell"/></body></body>
</worldbody></mujoco>"""
WEIGHT = '<inertial mass=".8" pos="0 0 .1" diaginertia=".01 .01 .01"/>'


@pytest.mark.parametrize("weight", ["", WEIGHT])
def test_what_has_an_inertial_is_compared_where_meshes_are_missing(
    tmp_path: Path, weight: str
) -> None:
    """10 % of a mass is found; a mass that a missing mesh would give is named and not compared."""
    (whole := tmp_path / "crane.xml").write_text(MESHES.format(mass=2.0, weight=weight))
    text = MESHES.format(mass=2.2, weight=WEIGHT).partition("<asset>")
    bare = re.sub("<geom.*?/>", "", text[0] + text[2].partition("</asset>")[2])
    (other := tmp_path / "other.xml").write_text(bare)
    one, two = read_robot(whole), read_robot(other)
    found = Comparison(one, two, {}, TOLERANCE, 0).result()
    [(cause, size)] = [(d.cause.where, d.cause.size) for d in found.differences]
    assert (cause, size) == ("mast", pytest.approx(0.1))
    back = Comparison(two, one, {}, TOLERANCE, 0).result()
    assert [d.cause.where for d in back.differences] == ["mast"]
    assert one.unweighed == (() if weight else ("hook",)) and not two.missing
    shapes = f"shapes of crane.xml are missing: 2 files, in {tmp_path / 'shapes'}"
    masses = [] if weight else ["masses of missing meshes are not compared: hook"]
    assert [*found.notes] == [shapes, *masses]
    robot = parity(one, engines=["mujoco"]).robots[0]
    assert bool(robot.unread) is not bool(weight)
    if weight:
        assert robot.status == {"mujoco": "same"}
        assert robot.levels.shipped["mujoco"].outcome == "outside"
    else:
        assert robot.unread.startswith("masses of hook come from meshes that are missing in ")
