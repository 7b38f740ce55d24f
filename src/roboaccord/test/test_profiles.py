"""Engines held to their expert settings: those come before all others, and everything follows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from roboaccord.cli.crosscheck import Profile, in_profile
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.outcome import Code, Finding, Outcome, because, excuse
from roboaccord.contract.state import Command
from roboaccord.crosscheck.engines import Engines, make_engines
from roboaccord.crosscheck.report import remarks
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.engines import name_of, simulate_model, spec
from roboaccord.engines.spec import read_settings
from roboaccord.engines.twin import twin_of
from roboaccord.falsify import parse_perturbation, wrap
from roboaccord.scenario.scenario import Tolerances
from roboaccord.testing.small_robots import CONSTANT_EFFORTS, model_of, start
from running import setup_of

pytestmark = pytest.mark.thorough

IMPLICIT = replace(spec("mujoco"), expert={"integrator": "implicit"}).as_expert()


def test_expert_settings_come_before_those_of_a_model_and_leave_the_others() -> None:
    given = {"mujoco": {"integrator": "rk4", "contact_damping": 3.0}, "dart": {"z_axis": [1, 0, 0]}}
    found = IMPLICIT.configured(replace(model_of("cart"), options=given)).options
    own = {"integrator": "implicit", "contact_damping": 3.0}
    assert found == {"mujoco": own, "dart": given["dart"]}
    assert IMPLICIT.as_expert() is IMPLICIT
    assert IMPLICIT.describe("4.0") == "4.0 integrator=implicit"
    assert spec("mujoco").describe("4.0") == "4.0"


@pytest.mark.parametrize("engine", ["dart", "mujoco"])
def test_every_engine_takes_its_expert_settings(engine: str) -> None:
    found = spec(engine)
    assert found.expert
    read_settings({engine: found.expert}, engine, found.settings)


def test_the_twin_is_that_of_the_expert_settings() -> None:
    """By the integrator of the model the ends would be 1e-7 apart, and are to round-off."""
    pytest.importorskip("mujoco")
    model = replace(model_of("floating arm"), options={"mujoco": {"integrator": "euler"}})
    ends = []
    for engine in (IMPLICIT, twin_of(IMPLICIT), spec("mujoco")):
        simulator = simulate_model(model, engine)
        simulator.reset(start("floating arm"))
        ends.append(simulator.step(Command(CONSTANT_EFFORTS), 0.1).qd)
    assert np.abs(ends[1] - ends[0]).max() < 1e-12 < 1e-6 < np.abs(ends[2] - ends[0]).max()


def test_a_deliberate_error_and_expert_settings_act_together() -> None:
    """Ten per cent more mass, and the scheme of the expert settings."""
    pytest.importorskip("mujoco")
    heavier = wrap(
        replace(spec("mujoco"), expert=IMPLICIT.expert),
        perturbations=[parse_perturbation("mujoco:mass:lower_link=1.1")],
    ).as_expert()
    simulator = simulate_model(model_of("cart"), heavier)
    assert simulator.version.endswith("(implicit)")
    assert simulator.masses()["lower_link"] == pytest.approx(0.88)


def test_profiles_name_who_takes_part() -> None:
    """An engine without expert settings, and the reference, take part once."""
    plain = replace(spec("dart"), name="plain", expert={})
    every = ["reference", "dart", plain]
    names = {p: [name_of(e) for e in in_profile([*every], p)] for p in Profile}
    assert names[Profile.DEFAULT] == ["reference", "dart", "plain"]
    assert names[Profile.EXPERT] == ["reference", "dart (expert)", "plain"]
    assert names[Profile.BOTH] == ["reference", "dart", "dart (expert)", "plain"]


def test_what_a_scenario_allows_an_engine_holds_in_both_profiles_or_in_one() -> None:
    one = Tolerances(trajectory={"dart": 1e-3, "dart (expert)": 1e-4, "mujoco (default)": 1e-2})
    assert [one.of(name) for name in ("dart", "dart (expert)")] == [1e-3, 1e-4]
    assert [one.of(name) for name in ("mujoco", "mujoco (expert)")] == [1e-2, None]
    assert Tolerances(trajectory={"dart": 1e-3}).of("dart (expert)") == 1e-3
    finding = Finding(Outcome.OUTSIDE, level="one_step", engine="dart (expert)")
    reasons = {"one_step": {"dart": "placed by steps"}}
    assert excuse([finding], reasons)[0].outcome == "excused"
    of_default = {"one_step": {"dart (default)": "its friction is a box"}}
    assert excuse([finding], of_default) == [finding]
    assert excuse([replace(finding, engine="dart")], of_default)[0].outcome == "excused"
    (said,) = remarks([replace(finding, outcome=Outcome.WITHIN)], reasons)
    assert said.code == Code.NO_EXCUSE_NEEDED
    assert str(said) == "dart (expert): one_step needs no excuse here"


def test_an_engine_whose_settings_are_its_expert_ones_runs_once() -> None:
    """MuJoCo by the workspace's settings, not by a scenario's own; nor one with an error."""
    pytest.importorskip("mujoco")
    pytest.importorskip("snake", reason="the snake is not installed")

    def taking_part(first: Engine, *changes: str) -> Engines:
        setup = setup_of("snake", "serpenoid", *changes)
        return make_engines(setup, in_profile([first], Profile.BOTH))

    alike = taking_part("mujoco")
    assert [*alike.others] == ["mujoco"]
    same = because(Code.SAME_SETTINGS, engine="mujoco (expert)", other="mujoco")
    assert alike.remarks == [same]
    other = taking_part("mujoco", "engine_options.mujoco.impratio=1.0")
    assert [*other.others] == ["mujoco", "mujoco (expert)"] and not other.remarks
    heavier = wrap("mujoco", perturbations=[parse_perturbation("mujoco:mass:base_link=1.1")])
    assert [*taking_part(heavier).others] == ["mujoco"]
    setup = setup_of("snake", "serpenoid")
    assert len(make_engines(setup, [heavier, spec("mujoco").as_expert()]).others) == 2


def test_an_engine_that_refuses_is_a_note_beside_the_verdict() -> None:
    """DART's impulses do not know reflected inertia, which a rotor in a contact scenario has."""
    pytest.importorskip("dartpy")
    pytest.importorskip("packbot", reason="the Packbot is not installed")
    engines = make_engines(setup_of("packbot", "collapse_real"), ["dart"], lambda *_: None)
    (note,) = engines.remarks
    assert not engines.others
    assert str(note).startswith("dart: left out: no reflected inertia where contacts")


def test_a_check_of_both_profiles(tmp_path: Path) -> None:
    """Where nothing touches, solvers of contact change nothing: both come to the same bits."""
    pytest.importorskip("dartpy")
    setup = setup_of("snake", "serpenoid", "crosscheck.duration=0.02", "crosscheck.states=2")
    engines = in_profile(["reference", "dart"], Profile.BOTH)
    report = run_crosscheck(setup, engines, refine=1, out=tmp_path)
    assert report.engines == ["reference", "dart", "dart (expert)"]
    assert report.versions["dart (expert)"].endswith(
        "friction_solver=nsgs friction_iterations=1000"
    )
    assert report.perturbations == []
    assert set(report.levels.scheme) == {"dart", "dart (expert)"}
    assert report.levels.scheme["dart (expert)"].outcome == "within"
    one, other = (report.trajectories[name] for name in report.engines[1:])
    np.testing.assert_array_equal(one.q, other.q)
    assert (tmp_path / "dart_expert_bag").exists()
