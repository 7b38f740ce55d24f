"""Parity: planted faults are named with their link, in each engine, and proven."""

from __future__ import annotations

import json
import re
import shutil
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from isolated_jobs import end
from roboaccord.cli.main import run
from roboaccord.contract.errors import AccordError
from roboaccord.description.urdf_file import UrdfFile, read_urdf
from roboaccord.engines.differences import Difference
from roboaccord.engines.formats import read_robot
from roboaccord.engines.model import LinkProperties
from roboaccord.engines.reading import draw_question, read_tree
from roboaccord.numerics.isolation import Crash, isolated
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_rpy, rpy_matrix
from roboaccord.scenario.scenario import Tolerances
from roboaccord_files.parity import words
from roboaccord_files.parity.bench import Bench, FileCase, ReadingOptions, reader_names, version_of
from roboaccord_files.parity.collection import examine_all
from roboaccord_files.parity.compare import ReferenceReading
from roboaccord_files.parity.door import files_of, parity
from roboaccord_files.parity.levels import LEVELS
from roboaccord_files.parity.properties import _cause_of_link
from roboaccord_files.parity.repaired import causes_of
from roboaccord_files.parity.result import ReadingCheck, ShippedCheck
from roboaccord_files.parity.words import ParityCode, status_of
from roboaccord_files.repair.find import find_traps
from running import or_skip
from test_round_off import shaken

LINKS = {
    "base": (4.0, (0.03, 0.05, 0.06)),
    "upper": (2.0, (0.01, 0.02, 0.025)),
    "fore": (1.5, (0.008, 0.011, 0.015)),
    "hand": (0.7, (0.002, 0.003, 0.004)),
}
JOINTS = {"shoulder": "0 0 1", "elbow": "0 1 0", "wrist": "1 0 0"}


def arm() -> str:
    """Return an arm of three joints on a free base; nothing in it is a trap."""
    links = "".join(
        f'<link name="{name}"><inertial><origin xyz="0.01 0.02 0.1" rpy="0.1 0.2 0.3"/>'
        f'<mass value="{mass}"/><inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link>"
        for name, (mass, (xx, yy, zz)) in LINKS.items()
    )
    names = list(LINKS)
    joints = "".join(
        f'<joint name="{name}" type="revolute"><origin xyz="0.05 0 0.3" rpy="0.2 0 0.1"/>'
        f'<parent link="{names[i]}"/><child link="{names[i + 1]}"/><axis xyz="{axis}"/>'
        '<limit lower="-1.5" upper="1.2" effort="10" velocity="1"/></joint>'
        for i, (name, axis) in enumerate(JOINTS.items())
    )
    return f'<robot name="arm">{links}{joints}</robot>'


def change(urdf: str, tag: str, name: str, edit: Callable[[ET.Element], None]) -> str:
    """Return a URDF with one link or joint changed."""
    top = ET.fromstring(urdf)
    edit(next(e for e in top.findall(tag) if e.get("name") == name))
    return ET.tostring(top, encoding="unicode")


def put(path: str, **values: str) -> Callable[[ET.Element], None]:
    """Return what sets attributes of the element at a path."""

    def edit(element: ET.Element) -> None:
        found = element.find(path)
        assert found is not None
        found.attrib.update(values)

    return edit


def no_inertial(link: ET.Element) -> None:
    """Take the inertial of a link away."""
    inertial = link.find("inertial")
    assert inertial is not None
    link.remove(inertial)


def weightless(link: ET.Element) -> None:
    """Make a link one of 0 kg."""
    put("inertial/mass", value="0")(link)
    put("inertial/inertia", ixx="0", iyy="0", izz="0")(link)


def mimics(joint: ET.Element) -> None:
    """Let a joint follow the shoulder."""
    ET.SubElement(joint, "mimic", joint="shoulder", multiplier="0.5")


def five_degrees(link: ET.Element) -> None:
    """Turn the axes of a link's inertial by 5 degrees about its own x axis."""
    turned = rpy_matrix(0.1, 0.2, 0.3) @ rpy_matrix(np.radians(5.0), 0.0, 0.0)
    words = " ".join(repr(float(x)) for x in quaternion_rpy(matrix_quaternion(turned)))
    put("inertial/origin", rpy=words)(link)


FAULTS: dict[str, tuple[str, str, Callable[[ET.Element], None]]] = {
    "inertial rotated": ("link", "fore", five_degrees),
    "mass": ("link", "fore", put("inertial/mass", value="1.515")),
    "axis flipped": ("joint", "elbow", put("axis", xyz="0 -1 0")),
    "missing inertial": ("link", "hand", no_inertial),
    "limit in degrees": (
        "joint", "elbow", put("limit", lower=repr(-270 / np.pi), upper=repr(216 / np.pi)),
    ),
    "non-physical inertia": ("link", "fore", put("inertial/inertia", izz="0.03")),
    "0 kg link in the middle": ("link", "fore", weightless),
    "duplicate joint name": ("joint", "wrist", lambda joint: joint.set("name", "elbow")),
    "mimic": ("joint", "wrist", mimics),
}  # fmt: skip


def bench(urdf: str, **planted: str) -> Bench:
    """Return the bench of a text."""
    return Bench(UrdfFile(Path("arm.urdf"), "arm", urdf, {}), planted=planted)


READING, SHIPPED = LEVELS


def examine(robot: Bench, engine: str) -> ReadingCheck:
    """Return what an engine makes of a robot without geometry."""
    return READING.measure(FileCase(robot, engine))


def status(check: ReadingCheck) -> str:
    """Return the word for it."""
    return status_of(READING.judge(check, Tolerances()))


def need(engine: str) -> None:
    """Skip a test where an engine is not installed."""
    with or_skip(""):
        version_of(engine)


@cache
def installed() -> list[str]:
    """Return the engines that are installed."""
    found = []
    for engine in reader_names():
        try:
            version_of(engine)
        except AccordError:
            continue
        found.append(engine)
    return found


PLANTED = [(fault, engine) for fault in FAULTS for engine in reader_names()]


@pytest.mark.parametrize(("fault", "engine"), PLANTED)
def test_fault_in_one_engine_is_named(fault: str, engine: str) -> None:
    """The engine alone gets the fault: its cause has the link or joint, and goes when it goes."""
    need(engine)
    tag, place, edit = FAULTS[fault]
    found = examine(bench(arm(), **{engine: change(arm(), tag, place, edit)}), engine)
    if fault == "mimic":  # never mixed in: the file has none, and the engine one, or drops it
        assert status(found) == "same" and found.acceleration < 1e-11
        if engine == "sdformat":  # whose converter drops it
            assert not found.causes
            return
    where = "elbow" if fault == "duplicate joint name" else place
    causes = [c for c in found.causes if c.quantity == fault and where in c.where]
    assert (status(found) == "same") == (fault == "mimic")
    assert len(causes) == 1, found.causes
    assert causes[0].fix
    if fault in ("inertial rotated", "mass", "axis flipped", "limit in degrees"):
        assert [c.quantity for c in found.causes] == [fault]
        assert causes[0].before > 1e-3 and causes[0].after < 1e-8


REFUSED, OPEN = ("outside", "refused"), ("not_judged", "undecided")
ENDS = {"refused": REFUSED, "crash": REFUSED, "no_answer": OPEN, "not_read": OPEN}


def test_an_outcome_is_a_code_and_a_word_follows() -> None:
    """Of both levels, whatever there is no reading for; at the bound a reading is the same."""
    for code, ends in ENDS.items():
        checks = ReadingCheck(ParityCode(code), refusal="no"), ShippedCheck(ParityCode(code), "no")
        for level, check in zip(LEVELS, checks, strict=True):
            found = replace(level.judge(check, Tolerances()), level=level.name)
            assert (found.outcome, status_of(found), found.codes) == (*ends, (code, "text"))
    for error, ends in ((1e-8, ("within", "same")), (2e-8, ("outside", "differ"))):
        check = ReadingCheck(worst=Difference("mass", "fore", error, 1e-8))
        assert (READING.judge(check, Tolerances()).outcome, status(check)) == ends


def test_no_outcome_hangs_on_words(monkeypatch: pytest.MonkeyPatch) -> None:
    need("mujoco")
    tag, place, edit = FAULTS["inertial rotated"]
    robot = bench(arm(), mujoco=change(arm(), tag, place, edit))
    before = examine(robot, "mujoco")
    monkeypatch.setattr(words, "CURES", dict.fromkeys(words.CURES, "planted"))
    after = examine(robot, "mujoco")
    assert "planted" in {flaw.fix for flaw in after.causes}
    assert READING.judge(after, Tolerances()) == READING.judge(before, Tolerances())
    assert [flaw.causes for flaw in after.causes] == [flaw.causes for flaw in before.causes]


def moments(*values: str) -> Callable[[ET.Element], None]:
    """Return what gives a link principal moments about the axes of its own frame."""

    def edit(link: ET.Element) -> None:
        put("inertial/origin", rpy="0 0 0")(link)
        put("inertial/inertia", **dict(zip(("ixx", "iyy", "izz"), values, strict=True)))(link)

    return edit


LOOP = (
    '<loop_joint name="bar" type="continuous"><link1 link="base"/><link2 link="hand"/></loop_joint>'
)
NO_SENSOR = '<gazebo reference="fore"><sensor/></gazebo>'
REFUSALS = {
    "vanishing inertia": (
        ["mujoco"], "hand", change(arm(), "link", "hand", moments(*["9.99e-15"] * 3)),
    ),
    "rounded inertia": (  # in doubles 0.3 + 0.6 is less than 0.9
        ["mujoco"], "hand", change(arm(), "link", "hand", moments("0.3", "0.6", "0.9")),
    ),
    "limit negative": (
        ["drake"], "elbow", change(arm(), "joint", "elbow", put("limit", velocity="-1")),
    ),
    "loop joint": (["drake"], "bar", arm().replace("</robot>", f"{LOOP}</robot>")),
    "joint type": (
        ["dart", "mujoco", "drake", "sdformat"], "elbow",
        change(arm(), "joint", "elbow", lambda joint: joint.set("type", "ball")),
    ),
    "robot of 0 kg": (["sdformat"], "base", '<robot name="prop"><link name="base"/></robot>'),
    "gazebo refused": (["sdformat"], "", arm().replace("</robot>", f"{NO_SENSOR}</robot>")),
}  # fmt: skip


@pytest.mark.parametrize("cause", REFUSALS)
def test_refusal_is_explained(cause: str) -> None:
    """Some engines refuse the text for this cause alone; the others read it alike."""
    refusing, place, text = REFUSALS[cause]
    for engine in installed():
        found = examine(bench(text), engine)
        refused = engine in refusing
        assert status(found) == ("refused" if refused else "same"), engine
        assert [(c.quantity, c.where) for c in found.causes] == [(cause, (place,))] * refused, (
            engine
        )


def test_cause_behind_another_is_named() -> None:
    """One hides the other: both stand at one joint, or the repair of one repairs the other too."""
    need("dart")
    text = change(arm(), "joint", "wrist", lambda joint: joint.remove(joint.find("limit")))
    text = text.replace('<limit lower="-1.5" upper="1.2" effort="10" velocity="1" />',
                        '<limit effort="0"/>', 1)  # fmt: skip
    found = examine(bench(text), "dart")
    assert {c.quantity: c.where for c in found.causes} == {
        "limit incomplete": ("shoulder",), "limits missing": ("shoulder", "wrist")
    }  # fmt: skip
    need("mujoco")
    tip = '<link name="tip"/><joint name="grown" type="fixed"><parent link="hand"/>'
    tip += '<child link="tip"/></joint><link name="end"/><joint name="last" type="fixed">'
    tip += '<parent link="tip"/><child link="end"/></joint></robot>'
    text = change(change(arm(), "link", "fore", weightless), "link", "hand", no_inertial)
    found = examine(bench(text.replace("</robot>", tip)), "mujoco")
    assert {(c.quantity, c.where[-1]) for c in found.causes} == {
        ("0 kg link in the middle", "fore"), ("missing inertial", "hand"),
        ("0 kg link fixed to others", "end"),
    }  # fmt: skip


def test_mass_from_which_sdformat_takes_a_link() -> None:
    """More than 1e-6 kg, with what is fixed to it; at that it drops a link that moves."""
    need("sdformat")
    twin = ET.tostring(ET.fromstring(arm())[3], "unicode").replace('"hand"', '"nail"')
    twin += '<joint name="grown" type="fixed"><parent link="hand"/><child link="nail"/></joint>'
    for mass, more, kept in (("1.01e-6", "", True), ("1e-6", "", False), ("6e-7", twin, True)):
        text = arm().replace("</robot>", f"{more}</robot>").replace('"0.7"', f'"{mass}"')
        found = examine(bench(text), "sdformat")
        assert status(found) == ("same" if kept else "differ")
        causes = [(c.quantity, c.where) for c in found.causes]
        assert causes == ([] if kept else [("vanishing mass", ("hand",))])
        assert [t.cause for t in find_traps(text)] == [cause for cause, _ in causes]


def test_moments_from_which_mujoco_takes_a_body() -> None:
    """1e-14 kg m^2, whatever the mass."""
    need("mujoco")
    for moment, mass in (("1.001e-14", "1"), ("1.001e-14", "1e-12"), ("1e-13", "1")):
        text = change(arm(), "link", "hand", moments(*[moment] * 3))
        text = change(text, "link", "hand", put("inertial/mass", value=mass))
        assert bench(text).ask("mujoco", "default", text).reading is not None
        assert "vanishing inertia" not in [trap.cause for trap in find_traps(text)]


def test_prefixes_that_sdformat_does_not_declare_are_read() -> None:
    """Its converter prints `ignition::` of a sensor that it lumps, and any prefix of `<gazebo>`."""
    need("sdformat")
    mount = '<joint name="mount" type="fixed"><parent link="hand"/><child link="eye"/></joint>'
    eye = arm().replace('name="hand"', 'name="eye"')
    link = ET.tostring(ET.fromstring(eye).find("link[@name='eye']") or ET.Element("no"), "unicode")
    sensor = (
        '<gazebo reference="eye"><sensor name="imu" type="imu"><pose>0 0 1 0 0 0</pose></sensor>'
    )
    other = '<s:contact name="a"/></gazebo>'
    text = arm().replace("</robot>", f"{link}{mount}{sensor}{other}</robot>")
    text = text.replace("<robot ", '<robot xmlns:s="s" ')
    found = examine(bench(text), "sdformat")
    assert (status(found), found.causes) == ("same", ())


@pytest.mark.parametrize(("factor", "cause"), [(57.3, "limit in degrees"), (57.2, "limit")])
def test_degrees_of_an_engine_are_told_from_other_limits(factor: float, cause: str) -> None:
    """180 / pi is 57.3 to three digits, and not 57.2; the limits are less than a turn in both."""
    need("dart")

    def limited(unit: float) -> str:
        limits = put("limit", lower=f"{-0.2 * unit}", upper=f"{0.15 * unit}")
        return change(arm(), "joint", "elbow", limits)

    found = examine(bench(limited(1.0), dart=limited(factor)), "dart")
    assert [(c.quantity, c.where) for c in found.causes] == [(cause, ("elbow",))]


@pytest.mark.parametrize("engine", reader_names())
def test_sound_robot_is_read_alike(engine: str) -> None:
    """Nothing is named where nothing is wrong; errors are round-off. An axis has any length."""
    need(engine)
    text = arm().replace('axis xyz="0 1 0"', 'axis xyz="0 3 4"')
    for base in ("free", "fixed"):
        found = examine(Bench(bench(text).file, base), engine)  # type: ignore[arg-type]
        named = [cause.quantity for cause in found.causes]
        assert status(found) == "same"
        assert named == (["welded root"] if (engine, base) == ("mujoco", "fixed") else [])
        assert found.acceleration < 1e-11 and found.order == tuple(JOINTS)


ROTOR = """<transmission name="drive"><type>transmission_interface/SimpleTransmission</type>
<joint name="elbow"><hardwareInterface>effort</hardwareInterface></joint>
<actuator name="motor" xmlns:drake="drake"><drake:rotor_inertia value="1e-4"/>
<drake:gear_ratio value="50"/></actuator></transmission></robot>"""


@pytest.mark.parametrize("engine", reader_names())
def test_what_is_kept_apart(engine: str) -> None:
    """Effort limits and collision shapes change no status; a rotor that Drake alone reads does."""
    need(engine)
    shape = "<collision><geometry>{}</geometry></collision>"
    shapes = shape.format('<box size="1 1 1"/>') + shape.format('<sphere radius="0.1"/>')
    urdf = arm().replace("</robot>", ROTOR)
    urdf = urdf.replace('<link name="fore">', f'<link name="fore">{shapes}')
    found = examine(bench(urdf), engine)
    assert status(found) == ("same" if engine == "drake" else "differ")
    assert set(found.uncompared.joints) == ({"effort"} if engine == "drake" else set())
    if engine != "drake":  # the reflected inertia is N^2 J
        assert [(c.quantity, c.where) for c in found.causes] == [("armature", ("elbow",))]
        assert found.causes[0].fix.startswith("it has 0 kg m^2 of rotor inertia for 0.25: of all")
        assert found.causes[0].after < 1e-8 < found.causes[0].before
    else:  # which limits what has a transmission
        assert "elbow" not in found.uncompared.joints["effort"]
    assert SHIPPED.measure(FileCase(bench(urdf), engine)).geometry == {}
    capsule = urdf.replace('<sphere radius="0.1"/>', '<capsule radius="0.1" length="0.2"/>')
    lost = {} if engine in ("mujoco", "drake") else {"capsule": (1, 0)}  # as these versions do
    assert SHIPPED.measure(FileCase(bench(capsule), engine)).geometry == lost


DATA = Path(__file__).parents[2] / "roboaccord" / "test" / "data" / "urdf"
TEN = {
    "bolt": {"mujoco": "0 kg link with an inertia", "drake": "0 kg link with an inertia"},
    "finger_edu": {"mujoco": "zero principal moment"},
    "double_pendulum": {"mujoco": "limits missing"},
    "double_pendulum_continuous": {"drake": "limits of a continuous joint"},
    "TwoDofs": {},
    "allegro_left_hand": {"mujoco": "non-physical inertia", "drake": "non-physical inertia"},
    "panda": {},
    "so100": {"sdformat": "joint and link share a name"},
    "xarm7": {"dart": "missing inertial"},
    "quadruped": {"dart": "limits missing", "sdformat": "limits missing"},
}


@pytest.mark.parametrize("name", TEN)
def test_ten_real_robots(name: str) -> None:
    """Each differs in the engines, and for the cause, that its texts have; the rest read alike."""
    robot = Bench(read_urdf(DATA / f"{name}.urdf"))
    for engine in installed():
        found = examine(robot, engine)
        causes = {c.quantity for c in found.causes if c.before or c.after} - {"mimic"}
        assert causes == ({TEN[name][engine]} if engine in TEN[name] else set()), engine
        assert (status(found) == "same") == (engine not in TEN[name])


def test_round_off_is_allowed_ten_times_by_the_condition_of_the_masses() -> None:
    """Of 1 kg that slides across 1e9 kg that slide it is 1e9; of equal ones it allows nothing."""
    body = '<link name="{}"><inertial><mass value="{}"/>{}</inertial></link>'
    spins = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    slide = (
        '<joint name="{0}" type="prismatic"><parent link="{1}"/><child link="{0}"/>'
        '<axis xyz="{2}"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )
    joints = slide.format("x", "base", "1 0 0") + slide.format("y", "x", "0 1 0")
    for mass, allowed in ((1e9 - 1.0, 1e10 * np.finfo(float).eps), (1.0, 1e-8)):
        links = "".join(body.format(n, m, spins) for n, m in (("base", 1), ("x", mass), ("y", 1)))
        tree = read_tree(f'<robot name="slides">{links}{joints}</robot>')
        question = draw_question(tree, "fixed", 0)
        found = ReferenceReading(tree, question).allowed(0)
        assert found == pytest.approx(allowed, rel=1e-6)


@pytest.mark.parametrize("engine", reader_names())
def test_balanced_wheel_weighs_round_off(engine: str) -> None:
    """3 kg at r and 1 kg at -3 r turn about a tilted axle without torque, and 3 kg at 1.0001 r not.

    Gravity's torque is the rounding of m g r, of which no part is a difference.
    """
    need(engine)
    moments = 'ixx="1" iyy="1.1" izz="1.2" ixy="0" ixz="0" iyz="0"'
    body = '<link name="{}"><inertial><origin xyz="{}"/><mass value="{}"/>'
    body += f"<inertia {moments}/></inertial></link>"
    text = (
        f'<robot name="wheel"><link name="world"/>{body.format("rim", "0.1 0.1 0", 3)}'
        f"{body.format('weight', '-0.4 -0.5 -0.3', 1, moments)}"
        '<joint name="axle" type="continuous"><origin rpy="0.3 0.7 0.1"/><parent link="world"/>'
        '<child link="rim"/><axis xyz="0 0 1"/></joint><joint name="weld" type="fixed">'
        '<origin xyz="0.1 0.2 0.3"/><parent link="rim"/><child link="weight"/></joint></robot>'
    )

    def gravity(planted: str) -> float:
        asked = bench(text, **{engine: planted}).ask(engine, "default", planted)
        return next(d.excess for d in asked.differences if d.quantity == "gravity forces")

    assert gravity(text) < 1.0
    assert gravity(text.replace("0.1 0.1 0", "0.10001 0.10001 0")) > 10.0


PAGE = Path(__file__).parents[3] / "docs" / "urdf_traps.md"
BODY = (
    '<inertial><mass value="1"/>'
    '<inertia ixx="0.01" iyy="0.012" izz="0.015" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
SECTION = re.compile(
    r"^## (.+?)\n.*?```xml\n(.*?)```.*?\n(\| dart .*?)\n\|-.*?\n(.*?)\n", re.S | re.M
)
TRAPS = {title: found for title, *found in SECTION.findall(PAGE.read_text("utf-8"))}


def test_the_page_has_examples() -> None:
    """A change of how the page is written must not empty the next test."""
    assert len(TRAPS) == 8


@pytest.mark.parametrize("title", TRAPS)
def test_trap_is_as_the_page_says(title: str) -> None:
    """Each example does in each engine what its table states."""
    xml, head, row = TRAPS[title]
    robot = bench(xml.replace("BODY", BODY).replace("LIMIT", LIMIT))
    engines, cells = ([cell.strip() for cell in r.strip("|").split("|")] for r in (head, row))
    message = dict(zip(engines, cells, strict=True))
    for engine in installed():
        found = examine(robot, engine)
        causes = {c.quantity for c in found.causes if c.quantity != "joint order"}
        word, _, cause = message[engine].partition(": ")
        assert (status(found), causes) == (word, {cause} if cause else set()), engine


def test_refusal_of_dart_says_why(capfd: pytest.CaptureFixture[str]) -> None:
    """The line names the joint; what DART warns of links without mass is not repeated."""
    need("dart")
    no_limits = change(arm(), "joint", "elbow", lambda joint: joint.remove(joint.find("limit")))
    outcome = bench(arm()).ask("dart", "default", no_limits)
    assert "Joint [elbow] is of type REVOLUTE but it does not specify limits" in outcome.refusal
    capfd.readouterr()
    robot = bench(change(arm(), "link", "hand", weightless))
    assert not robot.ask("dart", "default", arm()).refusal
    assert "Inertia" not in capfd.readouterr().err


@pytest.mark.slow
def test_crashes_take_no_other_job_with_them() -> None:
    """A segmentation fault, a hang and an error are distinguished; the other jobs end well."""
    jobs = [("one",), ("signal",), ("hang",), ("error",), ("two",), ("three",), ("abort",)]
    found = dict(isolated(end, jobs, timeout=60.0, workers=2))
    assert [found[i] for i in (0, 4, 5)] == ["one", "two", "three"]
    assert found[1] == Crash("its process ended with signal 11")
    assert found[2] == Crash("no answer in 60 s", late=True)
    assert found[3] == Crash("ValueError: no such thing")
    assert found[6] == Crash("its process ended with signal 6", words=("assertion failed",))


@pytest.mark.slow
def test_processor_time_is_limited_and_words_are_heard() -> None:
    """However long the clock runs; what is printed is heard, also that of other programs."""
    ((_, busy),) = isolated(end, [("busy",)], timeout=600.0, cpu=1.0, workers=1)
    assert busy == Crash("no verdict in 1 s of processor time", late=True)
    found = dict(isolated(end, [("words",), ("one",)], timeout=600.0, cpu=60.0, workers=1))
    assert found == {0: "of another program; of it; of this one", 1: "one"}


def test_an_engine_that_does_not_answer_is_undecided(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No time at all: that is no refusal, nor a cause to repair."""
    need("mujoco")
    monkeypatch.setattr("roboaccord_files.parity.collection.TIMEOUT", 0.0)
    words = f"parity {DATA}/TwoDofs.urdf --engines mujoco --junit {tmp_path}/j.xml --json"
    assert run(words.split()) == 1
    data = json.loads(capsys.readouterr().out)
    found = data["robots"][0]["engines"]["mujoco"]
    assert (data["verdict"], found["status"]) == ("undecided", "undecided")
    assert found["shipped"]["status"] == "undecided"
    assert data["counts"]["mujoco"] | {"undecided": 1, "refused": 0} == data["counts"]["mujoco"]
    assert [c["fix"] for c in found["causes"]] == ["no answer in 0 s"]
    files = files_of(f"{DATA}/TwoDofs.urdf", {}, {}, print)
    assert causes_of(examine_all(files, {"mujoco": ""}, ReadingOptions())[0]) == set()
    assert ET.parse(tmp_path / "j.xml").find("testsuite/testcase/skipped") is not None


def test_command_writes_what_the_interface_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON, page, JUnit and the repaired file of a folder; the status is 1 for a difference."""
    for engine in ("dart", "mujoco"):
        need(engine)
    for name in ("bolt", "TwoDofs"):
        shutil.copy(DATA / f"{name}.urdf", tmp_path)
    words = f"parity {tmp_path} --engines dart,mujoco --page {tmp_path}/p.html"
    words += f" --junit {tmp_path}/j.xml --repair {tmp_path}/repaired --json"
    assert run(words.split()) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["verdict"] == "fail"
    robots: dict[str, Any] = {robot["name"]: robot for robot in data["robots"]}
    bolt = robots["bolt"]["engines"]["mujoco"]
    assert robots["bolt"]["joints"] == 6
    masses = ET.parse(DATA / "bolt.urdf").iterfind("link/inertial/mass")
    assert robots["bolt"]["mass"] == pytest.approx(sum(float(m.attrib["value"]) for m in masses))
    assert {"status", "settings", "version", "mass", "order", "worst", "causes"} <= set(bolt)
    assert set(bolt["worst"]) == {"quantity", "where", "error"}
    assert [c["where"] for c in bolt["causes"]] == ["FL_FOOT", "FR_FOOT"]
    assert set(bolt["causes"][0]) == {"cause", "where", "before", "after", "fix"}
    assert robots["bolt"]["repaired"] == {"dart": "same", "mujoco": "differ"}
    feet = [f"needs your number: mass of {foot}" for foot in ("FL_FOOT", "FR_FOOT")]
    assert robots["bolt"]["repair"]["needs"] == feet
    assert robots["bolt"]["repair"]["diff"] == ""
    suites = ET.parse(tmp_path / "j.xml").getroot().findall("testsuite")
    assert {s.get("name"): s.get("failures") for s in suites} == {"bolt": "1", "twodofs": "0"}
    page = (tmp_path / "p.html").read_text("utf-8")
    assert "FL_FOOT" in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert "needs your number: mass of FL_FOOT" in page
    written = tmp_path / "repaired" / "bolt.urdf"
    assert written.read_bytes() == (DATA / "bolt.urdf").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nothing.urdf", "cannot read"),
        (f"{DATA}/bolt.urdf --engines dard", "unknown engine dard"),
        (f"{DATA}/bolt.urdf --base planar", "--base takes fixed or free"),
        (f"{DATA}/bolt.urdf --settings own", "--settings takes default or accord"),
        (f"{DATA}/bolt.urdf --package x", "--package takes NAME=DIR"),
        (f"{Path(__file__).parents[1] / 'resource'}", "no URDF"),
    ],
)
def test_mistakes_give_one_line(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 2, and one line that states what is wrong."""
    assert run(["parity", *words.split()]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_refused_as_shipped_alone_sets_no_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Meshes may be missing here, or of a format of others; the terminal and the page say so."""
    need("mujoco")
    shape = '<collision><geometry><sphere radius="-1"/></geometry></collision></link>'
    (path := tmp_path / "arm.urdf").write_text(arm().replace("</link>", shape, 1))
    assert run(f"parity {path} --engines mujoco --page {tmp_path}/p.html".split()) == 0
    line = "mujoco: refused as shipped, which sets no exit status"
    assert line in capsys.readouterr().out and line in (tmp_path / "p.html").read_text("utf-8")


def test_axis_without_a_direction_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text(arm().replace('axis xyz="0 1 0"', 'axis xyz="0 0 0"'))
    assert run(["parity", str(file)]) == 2
    assert "arm.urdf: joint elbow: its axis has no direction\n" in capsys.readouterr().err


def test_robot_of_ours() -> None:
    """An installed robot is named as in every command."""
    snake = files_of("snake", {}, {}, print)[0]
    assert {status(examine(Bench(snake), engine)) for engine in installed()} == {"same"}


COLLECTION = sorted(Path(sys.prefix).glob("lib/*/site-packages/*/share/example-robot-data/robots"))


@pytest.mark.slow
@pytest.mark.skipif(not COLLECTION, reason="example-robot-data is not installed")
def test_collection() -> None:
    """Public robots, one of eight: whatever an engine makes of them is explained.

    All 68 are counted by `benchmarks.campaigns.collection`, beside counts from the raw libraries.
    """
    for engine in ("dart", "mujoco", "drake"):
        need(engine)
    files = sorted(COLLECTION[0].rglob("*.urdf"))[::8]
    assert len(files) >= 8
    sources = [source for file in files for source in files_of(str(file), {}, {}, print)]
    robots = parity(sources).to_json()["robots"]
    assert {r["file"] for r in robots} == {str(file) for file in files}
    for robot, (engine, found) in ((r, each) for r in robots for each in r["engines"].items()):
        causes = {cause["cause"] for cause in found["causes"]}
        assert not causes & {"not explained", "crash"}, (robot["name"], engine)
        if found["status"] == "same":
            assert found["acceleration"] < 1e-8, (robot["name"], engine)
        else:
            assert causes or found["said"], (robot["name"], engine)


def test_a_turned_inertial_is_measured_whatever_the_axes_of_equal_moments() -> None:
    """A rod's axes are turned by five degrees; across it any two axes are as good as others."""
    axes, turn = rpy_matrix(0.3, 0.2, 0.1), rpy_matrix(np.radians(5.0), 0.0, 0.0)
    rod = np.diag([0.1, 0.1, 0.02])
    for seed in range(20):
        want, have = (
            LinkProperties(1.0, np.zeros(3), a @ np.diag(shaken(np.diag(rod), seed)) @ a.T)
            for a in (axes, axes @ turn)
        )
        assert "5 degrees off" in _cause_of_link(want, have, {"inertia": ""})[1]


PLANAR = """<mujoco model="hopper"><option density="1.2"/><worldbody><body pos="0 0 1">
<joint type="slide" axis="1 0 0" ref=".2"/><joint name="z" type="slide" axis="0 0 1"/>
<joint name="pitch" axis="0 1 0" armature=".3"/><geom size=".1"/><body name="leg" pos="0 0 -.2">
<joint name="hip" axis="0 1 0" pos="0 0 .05" range="-50 60" stiffness="6" springref="20"/>
<geom type="capsule" fromto="0 0 0 0 .02 -.3" size=".04"/></body></body></worldbody>
<actuator><position joint="hip" kp="9"/></actuator></mujoco>"""


@pytest.mark.parametrize("engine", ["mujoco", "dart", "drake", "sdformat"])
def test_mujoco_is_given_the_mjcf_and_others_what_was_converted_from_it(tmp_path, engine) -> None:
    """A body with three joints, one without a name: nobody is blamed for frames that we make."""
    need(engine)
    (tmp_path / "hopper.xml").write_text(PLANAR)
    robot = Bench(read_robot(tmp_path / "hopper.xml"))
    found = examine(robot, engine)
    lost = {"dart": 2, "drake": 1}.get(engine, 0)
    assert len(found.uncompared.lost) == lost
    if engine == "sdformat":  # which drops what hangs on a link of no mass
        assert (status(found), found.causes) == ("undecided", ())
        assert found.refusal == "of the URDF converted from it: it keeps no link"
        return
    assert status(found) == "same" and found.acceleration < 1e-11
    assert robot.is_own(engine) is (engine == "mujoco")
    if engine == "dart":
        assert found.uncompared.lost[0].startswith("rotor inertia of 1 joints, up to ")
    if engine == "mujoco":
        assert {*robot.read(engine, "default", robot.full_text).links} == {"body_1", "leg"}
        raw = PLANAR.replace('armature=".3"', 'armature=".31"')
        planted = Bench(replace(robot.file, origin=raw, path=Path("-")))
        assert [(c.quantity, c.where) for c in examine(planted, engine).causes] == [
            ("armature", ("pitch",))
        ]
