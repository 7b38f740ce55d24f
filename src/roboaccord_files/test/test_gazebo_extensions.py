"""What Gazebo alone makes of a URDF: the rules against SDFormat's own conversion."""

from pathlib import Path

import pytest
from roboaccord.description.urdf_file import read_urdf
from roboaccord.gazebo.tool import tool_version
from roboaccord_files.parity.bench import Bench
from roboaccord_files.parity.sdformat import SdfReading
from roboaccord_files.rules.find import findings
from running import or_skip
from slow_cases import late
from test_parity import READING, examine, status

pytestmark = pytest.mark.thorough

ARM = Path(__file__).with_name("planted") / "arm.urdf"
PLACES = ("", "upper", "elbow", "weld")  # robot, link, joint that moves, fixed joint
ACTING = [
    "<static>true</static>", '<static value="yes"/>', "<turnGravityOff>1</turnGravityOff>",
    "<gravity>0</gravity>", "<springStiffness>5</springStiffness>",
    "<disableFixedJointLumping>true</disableFixedJointLumping>",
]  # fmt: skip
IDLE = [
    "<static>maybe</static>",
    "<turnGravityOff>false</turnGravityOff>",
    "<gravity>true</gravity>",
    "<springStiffness>0</springStiffness>",
    "<preserveFixedJoint>true</preserveFixedJoint>"
    "<disableFixedJointLumping>true</disableFixedJointLumping>",
    "<mu1>0.3</mu1><kp>1e6</kp><selfCollide>true</selfCollide>",
]


@pytest.fixture(autouse=True)
def _tool():
    with or_skip(""):
        tool_version()


def robot(tmp_path, body, *places):
    """Return the arm with a `<gazebo>` in each place."""
    path = tmp_path / "arm.urdf"
    blocks = "".join(f'<gazebo reference="{place}">{body}</gazebo>' for place in places)
    block = f"{blocks}</robot>"
    path.write_text(ARM.read_text(encoding="utf-8").replace("</robot>", block), encoding="utf-8")
    return read_urdf(path)


@pytest.mark.parametrize("body", [*ACTING[:2], *late(*ACTING[2:]), *IDLE])
def test_rules_find_what_sdformat_converts(tmp_path, body):
    """In which place a tag changes the dynamics, one at most, and in which spelling.

    One that is idle in all places at once is so in each.
    """
    acts = 0
    for places in [[place] for place in PLACES] if body in ACTING else [PLACES]:
        file = robot(tmp_path, body, *places)
        rules = {each.rule for each in findings(file) if each.severity == "warning"}
        converted = {cause.replace(" ", "-") for cause in SdfReading.beside(file.text)}
        assert rules - {"gazebo-misplaced"} == converted
        acts += bool(converted)
    assert acts == (body in ACTING)


@pytest.mark.parametrize(
    ("body", "place", "causes"),
    [
        ("<static>true</static>", "", {"gazebo static": ("arm",)}),
        ("<turnGravityOff>true</turnGravityOff>", "upper", {"gazebo gravity": ("upper",)}),
        ("<springStiffness>5</springStiffness>", "elbow", {"gazebo spring": ("elbow",)}),
        ("<mu1>0.3</mu1>", "upper", {}),
    ],
)
def test_parity_calls_no_robot_the_same_that_gazebo_moves_otherwise(tmp_path, body, place, causes):
    bench = Bench(robot(tmp_path, body, place))
    found = examine(bench, "sdformat")
    assert {each.quantity: each.where for each in found.causes} == causes
    ours = READING.rows(found)["with ours"].value
    assert status(found) == ours == ("differ" if causes else "same")


def test_no_other_engine_reads_gazebo(tmp_path):
    """DART and MuJoCo, whose accelerations are the reference's with all of it in the file."""
    body = "".join(ACTING)
    for engine in ("dart", "mujoco"):
        pytest.importorskip({"dart": "dartpy"}.get(engine, engine))
        bench = Bench(robot(tmp_path, body, "upper"))
        bench.text = bench.file.text  # not taken out
        assert bench.ask(engine, "default", bench.text).agrees
