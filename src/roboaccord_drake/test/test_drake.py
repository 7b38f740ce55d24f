"""Drake as an engine, beside what every engine keeps: refusals, faults, silent repairs."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from roboaccord.cli.options import choose_engines
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.engines import default_names, engine_names, simulate_model, spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import EngineModel
from roboaccord.engines.reading import draw_question, read_tree
from roboaccord.engines.spec import Missing
from roboaccord.numerics.rotations import quaternion_matrix, rpy_quaternion

INERTIAL = (
    '<inertial><origin xyz="0.02 -0.1 -0.3" rpy="0.1 0.2 0.3"/><mass value="1.5"/>'
    '<inertia ixx="0.05" iyy="0.06" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>'
)
LIMIT = '<limit lower="-0.4" upper="0.5" effort="9" velocity="9"/>'
ARM = f"""<robot name="arm"><link name="world"/>
  <link name="base_link"/>
  <link name="upper_link">{INERTIAL}</link><link name="lower_link">{INERTIAL}</link>
  <joint name="tie" type="fixed"><parent link="world"/><child link="base_link"/></joint>
  <joint name="shoulder" type="continuous"><parent link="base_link"/><child link="upper_link"/>
    <axis xyz="1 0 0"/><dynamics damping="0.5" friction="0.3"/></joint>
  <joint name="elbow" type="KIND"><parent link="upper_link"/><child link="lower_link"/>
    <origin xyz="0 0 -0.6"/><axis xyz="0.6 0.8 0"/>{LIMIT}</joint>
</robot>"""
HANGING = np.array([0.3, 0.2])


def arm(kind: str = "continuous", **changes: Any) -> EngineModel:
    """Return an arm of two joints, the second of them with stops if it is revolute."""
    model = EngineModel(
        urdf=ARM.replace("KIND", kind), base="fixed", joints=("shoulder", "elbow"),
        effort_limits=np.full(2, 50.0), physics_step=1e-3, gravity=9.81,
    )  # fmt: skip
    return replace(model, **changes)


def drake(model: EngineModel, integrator: str = "discrete") -> EngineSimulator:
    """Return Drake's simulator of a model; without Drake the test is skipped."""
    pytest.importorskip("pydrake")
    return simulate_model(replace(model, options={"drake": {"integrator": integrator}}), "drake")


def at(q: Array, qd: Array | None = None) -> RobotState:
    return RobotState(0.0, q, np.zeros(2) if qd is None else qd, np.zeros(2))


def swing(simulator: EngineSimulator, start: RobotState, duration: float = 0.5) -> RobotState:
    simulator.reset(start)
    return simulator.step(Command(np.zeros(2)), duration)


def test_the_second_referee_moves_as_mujocos_does() -> None:
    """Both are the classical Runge-Kutta method: they differ by round-off."""
    pytest.importorskip("mujoco")
    ends = [
        swing(simulator, at(HANGING)).q
        for simulator in (drake(arm(), "rk4"), simulate_model(arm(), "mujoco"))
    ]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-13)


@pytest.mark.parametrize("integrator", ["discrete", "rk4"])
def test_a_tumbling_base_keeps_its_momentum(integrator: str) -> None:
    """Without gravity the base is pushed as by the wrench F, T: m v = F t, and H = T t."""
    urdf = f'<robot name="b"><link name="base_link">{INERTIAL.replace("0.02 -0.1 -0.3", "0 0 0")}'
    model = arm(urdf=urdf + "</link></robot>", base="free", joints=(), gravity=0.0,
                effort_limits=np.zeros(0), physics_step=1e-4)  # fmt: skip
    simulator, none = drake(model, integrator), np.zeros(0)
    turned = rpy_quaternion(0.5, -0.9, 2.0)
    simulator.reset(RobotState(0.0, none, none, none, np.ones(3), turned))
    wrench = np.array([0.3, -0.2, 0.5, 0.02, 0.01, -0.03])
    end = simulator.step(Command(none, wrench=wrench), 0.2)
    turn, mass = quaternion_matrix(end.orientation), simulator.properties().links["base_link"]
    np.testing.assert_allclose(mass.mass * turn @ end.twist[:3], 0.2 * wrench[:3], atol=1e-12)
    spin = turn @ mass.inertia @ end.twist[3:]
    np.testing.assert_allclose(
        spin, 0.2 * wrench[3:], atol=1e-6 if integrator == "discrete" else 1e-12
    )


def test_what_it_cannot_do_is_refused_in_one_line() -> None:
    mimic = ARM.replace(LIMIT, '<mimic joint="shoulder"/>').replace("KIND", "continuous")
    cases = [
        (arm(urdf=mimic), "rk4", "no mimic joint in continuous time"),
        (arm(), "euler", "unknown integrator euler"),
        (arm(urdf=ARM.replace("KIND", "universal")), "discrete", "joint elbow is missing"),
    ]
    for model, integrator, why in cases:
        with pytest.raises(AccordError, match=why) as refused:
            drake(model, integrator)
        assert "\n" not in str(refused.value)


def test_a_stop_ends_a_run_in_continuous_time() -> None:
    pushed = Command(np.array([0.0, 20.0]))
    continuous = drake(arm("revolute"), "rk4")
    continuous.reset(at(HANGING))
    with pytest.raises(AccordError, match=r"elbow comes to its stop.*integrator=discrete"):
        continuous.step(pushed, 0.5)


def test_limits_of_a_continuous_joint_are_none() -> None:
    """Drake would keep those that stand in the file."""
    simulator = drake(arm())
    np.testing.assert_array_equal(simulator.properties().joints["elbow"].limits, [-np.inf, np.inf])
    simulator.reset(at(HANGING))
    assert simulator.step(Command(np.array([0.0, 20.0])), 0.5).q[1] > 1.0


@pytest.mark.parametrize("integrator", ["discrete", "rk4"])
def test_a_frozen_joint_stays_and_the_rest_moves_as_with_a_fixed_joint(integrator: str) -> None:
    """The plant with the joint fixed is another text; rotors of 1e30 kg m^2 leave 1e-12."""
    frozen = drake(arm(faults=(Fault("elbow", "frozen", 0.0),)), integrator)
    end = swing(frozen, at(np.array([0.8, 0.0])))
    fixed = replace(arm("fixed"), joints=("shoulder",), effort_limits=np.full(1, 50.0))
    simulator = drake(fixed, integrator)
    simulator.reset(RobotState(0.0, np.array([0.8]), np.zeros(1), np.zeros(1)))
    expected = simulator.step(Command(np.zeros(1)), 0.5)
    assert abs(end.q[1]) < 1e-30
    np.testing.assert_allclose(end.q[0], expected.q[0], atol=1e-11)
    frozen.reset(at(HANGING))  # heals it, until its time has come
    assert frozen.acceleration(at(HANGING), np.zeros(2)).joints[1] == 0.0


@pytest.mark.parametrize(
    ("was", "wrong"), [('izz="0.03"', 'izz="0.3"'), ('<mass value="1.5"/>', '<mass value="0"/>')]
)
def test_inertias_that_drake_would_replace_are_refused(was: str, wrong: str) -> None:
    """A + B < C becomes a sphere of water, and a link of 0 kg that has an inertia 1 kg."""
    urdf = ARM.replace("KIND", "continuous").replace(was, wrong, 1)
    with pytest.raises(AccordError, match="the inertia of upper_link is not physical"):
        drake(arm(urdf=urdf))


def test_it_takes_part_where_it_is_named_alone() -> None:
    assert "drake" not in default_names()
    assert "drake" in engine_names()
    assert "drake" not in choose_engines("")
    assert choose_engines("reference,drake") == ["reference", "drake"]


def test_without_it_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydrake", None)
    monkeypatch.delitem(sys.modules, "roboaccord_drake.simulator", raising=False)
    monkeypatch.delitem(sys.modules, "roboaccord_drake.model", raising=False)
    for name in [name for name in sys.modules if name.startswith("pydrake.")]:
        monkeypatch.setitem(sys.modules, name, None)
    why = "engine drake needs drake: pip install drake"
    assert spec("drake").look() == Missing(why)
    with pytest.raises(AccordError, match=f"^{why}$"):
        simulate_model(arm(), "drake")


def test_forces_that_are_not_finite_are_a_divergence() -> None:
    """Drake refuses them by an exception of its own; the run ends in one line, as elsewhere."""
    fast = at(HANGING, np.array([1e4, -1e4]))
    with pytest.raises(AccordError, match="drake diverged at t = "):
        swing(drake(arm("revolute")), fast)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name="arm"', 'name=""', r"!name\.empty\(\)"),
        ('lower="-0.4" upper="0.5"', 'lower="0.5" upper="-0.4"', "pos_lower_limits"),
    ],
)
def test_an_assertion_of_drake_is_a_refusal_in_its_words(old: str, new: str, message: str) -> None:
    """Python gets it as SystemExit, which would end the process without a word."""
    pytest.importorskip("pydrake")
    model = arm("revolute")
    text = model.urdf.replace(old, new)
    assert text != model.urdf
    with pytest.raises(AccordError, match=message):
        drake(replace(model, urdf=text))
    from roboaccord_drake.reader import DrakeReading

    question = draw_question(read_tree(model.urdf), "fixed", 0)
    with pytest.raises(AccordError, match=message):
        DrakeReading(text, question, "default", {})
