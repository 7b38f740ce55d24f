"""Certificates of contact of runs: balances to round-off, planted errors, and who has none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from roboaccord.contract import Certificate, ContactPoint
from roboaccord.crosscheck.certificate import certificate_of
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.runs import Job, Runs
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup, find_robot

pytestmark = pytest.mark.thorough

BALLS = [("voxel_sphere", "bowl"), ("voxel_sphere", "teleop"), ("roller_sphere", "dribble")]
ENGINES = {"dart": "dartpy", "mujoco": "mujoco"}
# Forces over the weight: round-off of a state of 1e-16, by a step of 1 ms and a speed of 1 m/s,
# is 1e-14 of g; a hundred times as much.
ROUND_OFF = 1e-12


def case_of(robot: str, scenario: str, engine: str, *changes: str) -> CheckCase:
    """Return the case of a run of 50 ms."""
    pytest.importorskip(ENGINES.get(engine, "numpy"))
    short = ["duration=0.05", "crosscheck.duration=0.05", *changes]
    setup = Setup.of(load_scenario(find_robot(robot).package, robot, scenario, short))
    step = setup.scenario.physics_step
    run = run_setup(setup, make_simulator(setup, engine))
    return CheckCase(setup, engine, engine, Runs({Job(engine, step): run}, [step]))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("robot", "scenario"), BALLS)
def test_the_momentum_of_a_ball_changes_by_its_contact_forces(
    robot: str, scenario: str, engine: str
) -> None:
    """To round-off, though contacts are an engine's own; MuJoCo's friction is within the cone.

    The energy of the dribbled ball is not known: joints that press the rollers are in no state.
    """
    certificate = certificate_of(case_of(robot, scenario, engine))
    assert isinstance(certificate, Certificate)
    assert certificate.momentum.value < ROUND_OFF
    assert 0.0 < certificate.signorini.value < 0.1  # m: at first it is lowered onto its contacts
    assert np.isnan(certificate.energy.value) == (scenario == "dribble")
    if engine == "mujoco":
        assert certificate.cone.value < ROUND_OFF


@pytest.mark.parametrize("engine", ENGINES)
def test_one_per_cent_of_the_contact_force_is_missed(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an engine keeps back of its forces is the residual: 0.01 |F| / 1.01 over the weight."""
    case = case_of("voxel_sphere", "bowl", engine)
    simulator, forces = case.simulator, [0.0]
    honest = simulator.contacts

    def weaker() -> Sequence[ContactPoint]:
        points = [
            replace(point, force=point.force / 1.01, friction=point.friction / 1.01)
            for point in honest() or ()
            if point.friction is not None
        ]
        total = sum(point.force * point.normal + point.friction for point in points)
        forces.append(float(np.linalg.norm(total)))
        return points

    monkeypatch.setattr(simulator, "contacts", weaker)
    certificate = certificate_of(case)
    assert isinstance(certificate, Certificate)
    weight = simulator.masses()["base_link"] * case.setup.parameters.gravity
    assert certificate.momentum.value == pytest.approx(0.01 * max(forces) / weight, abs=ROUND_OFF)


@pytest.mark.parametrize(
    ("robot", "scenario", "engine", "changes", "reason"),
    [
        ("snake", "serpenoid", "reference", [], "the scenario has no contact"),
        ("roller_sphere", "headings", "mujoco", [], "the scenario has no contact"),
        ("roller_sphere", "dribble", "reference", [], "it gives no contact forces"),
        ("voxel_sphere", "bowl", "reference", [], "it gives no contact forces"),
        ("roller_sphere", "headings", "mujoco", ["friction={law: contact}"], "no contact forces"),
        ("packbot", "collapse", "reference", ["friction={law: joint_clamp}", "duration=0.5"],
         "no contact forces"),
    ],
)  # fmt: skip
def test_who_has_none_says_why(
    robot: str, scenario: str, engine: str, changes: Sequence[str], reason: str
) -> None:
    """Force laws are no contacts, and contacts without forces are not certified."""
    if robot == "packbot":
        pytest.importorskip("pinocchio")
    certificate = certificate_of(case_of(robot, scenario, engine, *changes))
    assert isinstance(certificate, str)
    assert certificate.startswith("does not apply: ") and reason in certificate


def test_where_joints_fail_momentum_is_not_known() -> None:
    """A drive freezes by an impulse that is none of a contact; the other residuals remain."""
    pytest.importorskip("pinocchio")
    certificate = certificate_of(
        case_of("packbot", "collapse", "mujoco", "faults=[elbow1=frozen@0.02]")
    )
    assert isinstance(certificate, Certificate)
    assert np.isnan(certificate.momentum.value) and certificate.energy.value < ROUND_OFF
    assert certificate.signorini.value == 0.0
