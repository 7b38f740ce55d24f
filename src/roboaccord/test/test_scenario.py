"""Scenarios: reading, changing, refusing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import toy_robot
from roboaccord.contract.errors import AccordError
from roboaccord.description.xacro_file import expand_xacro
from roboaccord.numerics.rotations import quaternion_matrix, rpy_matrix
from roboaccord.scenario.files import apply_change, load_scenario, make_scenario
from roboaccord.scenario.setup import Robot, Setup


def test_changes_reach_into_nested_keys_and_read_numbers_as_engineers_write_them() -> None:
    data: dict[str, object] = {"robot": "x", "controller": {"name": "c", "gain": 1}}
    for change in ("controller.gain=2e-3", "duration=5", "initial.q={a: 0.1}", "seed=3"):
        apply_change(data, change)
    scenario = make_scenario(data)
    assert scenario.controller == {"name": "c", "gain": 0.002}
    assert scenario.duration == 5 and scenario.initial.q == {"a": 0.1}


def changed(data: dict[str, object], change: str) -> dict[str, object]:
    apply_change(data, change)
    return data


def test_a_cross_check_lasts_any_time_but_none() -> None:
    """docs/any_robot.md has half a second judged."""
    for seconds in (0.5, 1e-3):
        data: dict[str, object] = {"robot": "x"}
        made = make_scenario(changed(data, f"crosscheck.duration={seconds}"))
        assert made.crosscheck.duration == seconds
    with pytest.raises(AccordError, match=r"crosscheck.duration: .*greater than 0"):
        make_scenario(changed({"robot": "x"}, "crosscheck.duration=0"))


def test_switches_are_complete_and_only_those_of_the_robot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    toy_robot.install(tmp_path)
    setup = toy_robot.make_switched()
    assert setup.initial.switches == {"magnet_a": True, "magnet_b": False}

    def given(**switches: bool) -> Setup:
        data = {**setup.scenario.data(), "initial": {"switches": switches}}
        return Setup(setup.robot, make_scenario(data))

    assert given(magnet_b=True).initial.switches == {"magnet_a": True, "magnet_b": True}
    with pytest.raises(AccordError, match=r"did you mean initial\.switches\.magnet_b"):
        _ = given(magnetb=True).initial
    with pytest.raises(AccordError, match=r"initial\.switches"):
        make_scenario({"robot": "x", "initial": {"switches": {"magnet_a": "perhaps"}}})


def test_the_base_starts_with_roll_pitch_and_yaw_as_urdf_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against the matrix, which turns about the fixed axes x, y, z in that order."""
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    toy_robot.install(tmp_path)
    data = {**toy_robot.make_setup().scenario.data()}
    data["initial"] = {"roll": 0.3, "pitch": -0.4, "yaw": 2.5}
    state = Setup(toy_robot.ROBOT, make_scenario(data)).initial
    found = quaternion_matrix(state.orientation)
    np.testing.assert_allclose(found, rpy_matrix(0.3, -0.4, 2.5), atol=1e-15)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("duration: 2.0\ncontroller: {name: c, gain: 1e-3}\n")
    scenario = load_scenario("any", "x", str(path))
    assert scenario.name == "mine" and scenario.controller["gain"] == 0.001
    path.write_text("robot: y\n")
    with pytest.raises(AccordError, match="a scenario of y, not of x"):
        load_scenario("any", "x", str(path))
    path.write_text("- 1\n")
    with pytest.raises(AccordError, match="it holds no keys"):
        load_scenario("any", "x", str(path))
    path.write_text("a: [\n")
    with pytest.raises(AccordError, match="cannot read"):
        load_scenario("any", "x", str(path))


def test_a_description_is_expanded_once_for_a_setup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For its tree, for every engine and at every physics step; anew for another base."""
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")  # put back afterwards
    toy_robot.install(tmp_path)
    asked: list[str] = []

    def counted(path: Path, arguments: Mapping[str, str]) -> str:
        asked.append(arguments["base"])
        return expand_xacro(path, arguments)

    monkeypatch.setattr("roboaccord.scenario.setup.expand_xacro", counted)
    setup = toy_robot.make_setup()
    assert setup.urdf() == setup.urdf() == setup.at_step(5e-4).urdf()
    assert len(setup.tree.links) == 4
    assert asked == ["fixed"]
    setup.at_step(5e-4).urdf(base="free")
    setup.urdf(base="free")
    assert asked == ["fixed", "free"]


@pytest.fixture
def sets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the folder of scenarios of a package with a set of parameters beside its file."""
    for folder in ("config", "scenarios"):
        (tmp_path / folder).mkdir()
    entry = "{value: 2.0, unit: kg, source: weighed, uncertainty: %s}"
    (tmp_path / "config" / "heavy.yaml").write_text("mass: " + entry % "[1.0, 4.0]")
    (tmp_path / "config" / "plain.yaml").write_text("mass: " + entry % "0.5")
    monkeypatch.setattr("roboaccord.description.parameters.share", lambda package: tmp_path)
    monkeypatch.setattr("roboaccord.scenario.files.share", lambda package: tmp_path)
    return tmp_path / "scenarios"


def test_a_scenario_extends_another_and_takes_a_set_of_parameters(sets: Path) -> None:
    """Mappings are merged, all else is replaced; a change comes after the set."""
    (sets / "a.yaml").write_text("duration: 3\ncontroller: {name: c, gain: 1}\n")
    (sets / "b.yaml").write_text("extends: a\ncontroller: {gain: 2}\nparameters: heavy\n")
    (sets / "c.yaml").write_text("extends: b\nduration: 4\n")
    found = load_scenario("toy1", "toy", "c")
    assert (found.name, found.duration, found.parameters) == ("c", 4, {"mass": 2.0})
    assert found.controller == {"name": "c", "gain": 2}
    for change, mass in (
        ("parameters=heavy:low", {"mass": 1.0}),
        ("parameters=heavy:high", {"mass": 4.0}),
        ("parameters.mass=0", {"mass": 0}),
        ("parameters={}", {}),
    ):
        assert load_scenario("toy1", "toy", "c", [change]).parameters == mass


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: a", "a.yaml: extends: 'a' is not another scenario beside it"),
        ("extends: ../b", "a.yaml: extends: '../b' is not another scenario beside it"),
        ("extends: nowhere", "cannot read .*nowhere.yaml"),
        ("parameters: light", "parameters: toy2 has no set 'light'"),
        ("parameters: heavy:most", "parameters: unknown end of the set heavy: most"),
        ("parameters: plain:low", "parameters: mass of the set plain has no range"),
    ],
)
def test_what_cannot_be_extended_or_taken_is_refused(sets: Path, text: str, message: str) -> None:
    (sets / "a.yaml").write_text(text)
    with pytest.raises(AccordError, match=message):
        load_scenario("toy2", "toy", "a")


def test_a_robot_has_few_members() -> None:
    """Attributes, annotated or not, and methods of the class body, with `__init__`: at most 24."""
    members = {*vars(Robot), *Robot.__annotations__}
    assert len([name for name in members if name == "__init__" or name[0] != "_"]) <= 24
