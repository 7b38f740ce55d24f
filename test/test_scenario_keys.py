"""`accord scenario` lists every key, and `--set` takes each as it is printed."""

from __future__ import annotations

import json
import math
import shlex
from typing import Any

import pytest
import yaml
from roboaccord.cli.console import out
from roboaccord.cli.main import run
from roboaccord.scenario import Setup, load_scenario, robot_names, scenario_names
from roboaccord.scenario.controllers import check_controller
from roboaccord.scenario.keys import REQUIRED, in_yaml, keys_of

ALL = [(robot, name) for robot in robot_names() for name in scenario_names(robot)]
SPARSE = ("parameters", "controller", "friction", "terrain")  # of which files name some keys only


@pytest.mark.parametrize("value", [1e-8, -2.5e300, 0.1, 7, True, "yes", "a b", None, [1e-9, []]])
def test_values_read_back_the_same(value: Any) -> None:
    assert yaml.safe_load(in_yaml({"key": value})) == {"key": value}
    assert yaml.safe_load(in_yaml(-math.inf)) == -math.inf


@pytest.mark.parametrize(("robot", "name"), ALL)
def test_every_key_is_taken_as_it_is_printed(robot: str, name: str) -> None:
    setup = Setup.of(load_scenario(robot, robot, name))
    keys = keys_of(setup)
    assert len({key.key for key in keys}) == len(keys)
    assert not [key.kind for key in keys if "<" in key.kind or "collections" in key.kind]
    changes = [f"{key.key}={key.value}" for key in keys if key.value != REQUIRED]
    assert len(changes) == len(keys)  # what is required, a shipped scenario gives
    if name == scenario_names(robot)[0]:  # each alone, too
        for change in changes:
            load_scenario(robot, robot, name, [change])
    again = Setup.of(load_scenario(robot, robot, name, changes))
    check_controller(again)
    assert keys_of(again) == keys
    plain, whole = setup.scenario.data(), again.scenario.data()
    assert {k: v for k, v in whole.items() if k not in SPARSE} == {
        k: v for k, v in plain.items() if k not in SPARSE
    }
    assert again.parameters == setup.parameters


@pytest.mark.parametrize(("robot", "name"), ALL)
def test_no_key_of_a_scenario_is_left_out(robot: str, name: str) -> None:
    setup = Setup.of(load_scenario(robot, robot, name))
    keys = {key.key: yaml.safe_load(key.value) for key in keys_of(setup)}

    def look(data: Any, path: str) -> None:
        if path in keys:
            assert keys[path] == json.loads(json.dumps(data))
        else:
            assert isinstance(data, dict), path
            for key, value in data.items():
                look(value, f"{path}.{key}".removeprefix("."))

    look(setup.scenario.data(), "")


def test_the_command_prints_types_units_and_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("snake", reason="the snake is not installed")
    assert run(["scenario", "snake", "serpenoid", "--set", "controller.ramp=2.5", "--json"]) == 0
    keys = {key["key"]: key for key in json.loads(capsys.readouterr().out)["keys"]}
    ramp = keys["controller.ramp"]
    assert (ramp["kind"], ramp["unit"], ramp["default"], ramp["value"]) == (
        "float", "s", "1.0", "2.5",
    )  # fmt: skip
    assert keys["parameters.link_mass"]["unit"] == "kg"
    assert keys["parameters.joints"]["kind"] == "int"
    assert keys["friction.slip_speed"]["unit"] == "m/s"
    assert keys["controller.friction"]["value"] == "{}"
    assert keys["initial.spread_q"]["meaning"]
    assert keys["crosscheck.tolerances.one_step"]["default"] == "0.001"
    assert run(["scenario", "snake", "serpenoid"]) == 0
    out = capsys.readouterr().out
    assert "friction.mu_along=0.1" in out and "'initial.q={}'" in out


def test_a_key_is_printed_in_one_line_however_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terminal of 80 columns breaks the words below it, not what is to be copied."""
    monkeypatch.setattr(out, "width", 80)
    assert run(["scenario", "packbot", "shelf", "--json"]) == 0
    keys = json.loads(capsys.readouterr().out)["keys"]
    assert run(["scenario", "packbot", "shelf"]) == 0
    lines = capsys.readouterr().out.splitlines()
    given = [shlex.quote(f"{key['key']}={key['value']}") for key in keys]
    assert max(map(len, given)) > 80
    assert set(given) <= set(lines)
    assert all(len(line) <= 80 for line in set(lines) - set(given))
