"""Scenarios: reading, changing, refusing."""

from __future__ import annotations

from pathlib import Path

import pytest
from roboaccord.errors import AccordError
from roboaccord.scenario import apply_change, load_scenario, make_scenario


def test_changes_reach_into_nested_keys_and_read_numbers_as_engineers_write_them() -> None:
    data: dict[str, object] = {"robot": "x", "controller": {"name": "c", "gain": 1}}
    for change in ("controller.gain=2e-3", "duration=5", "initial.q={a: 0.1}", "seed=3"):
        apply_change(data, change)
    scenario = make_scenario(data)
    assert scenario.controller == {"name": "c", "gain": 0.002}
    assert scenario.duration == 5
    assert scenario.initial.q == {"a": 0.1}


def changed(data: dict[str, object], change: str) -> dict[str, object]:
    apply_change(data, change)
    return data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("durations=1", "unknown key durations; did you mean duration"),
        ("initial.spin=1", "unknown key initial.spin"),
        ("duration=-1", "duration: .*greater than 0"),
        ("duration=soon", "duration: "),
        ("physics_step=0.0003", "no whole multiple"),
        ("duration", "takes KEY=VALUE"),
        ("seed.x=1", "unknown key seed.x"),
        ("duration={", "no YAML value"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(change: str, message: str) -> None:
    data: dict[str, object] = {"robot": "x", "seed": 1}
    with pytest.raises(AccordError, match=message) as caught:
        make_scenario(changed(data, change))
    assert "\n" not in str(caught.value)


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("duration: 2.0\ncontroller: {name: c, gain: 1e-3}\n")
    scenario = load_scenario("any", "x", str(path))
    assert scenario.name == "mine"
    assert scenario.controller["gain"] == 0.001
    path.write_text("robot: y\n")
    with pytest.raises(AccordError, match="a scenario of y, not of x"):
        load_scenario("any", "x", str(path))
    path.write_text("- 1\n")
    with pytest.raises(AccordError, match="it holds no keys"):
        load_scenario("any", "x", str(path))
    path.write_text("a: [\n")
    with pytest.raises(AccordError, match="cannot read"):
        load_scenario("any", "x", str(path))
