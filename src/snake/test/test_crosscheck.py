"""The cross-check on the snake: engines agree, and a false mass is found and named."""

import json
import math

import pytest
from roboaccord.crosscheck.run import run_crosscheck


@pytest.fixture(scope="module")
def setup():
    """Return the serpenoid, with short runs; 40 states are as good as 100 for a pass."""
    from roboaccord import Setup, load_scenario

    changes = ["crosscheck.duration=0.6", "crosscheck.states=40"]
    return Setup.of(load_scenario("snake", "snake", "serpenoid", changes))


@pytest.fixture(scope="module")
def sound(setup, tmp_path_factory):
    """Return the result of a cross-check with nothing wrong."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    pytest.importorskip("dartpy", reason="DART is not installed, or libGL is missing")
    out = tmp_path_factory.mktemp("sound")
    return run_crosscheck(setup, ["reference", "dart", "mujoco"], refine=3, out=out)


def test_engines_agree_by_convergence(sound):
    """DART with order 1, MuJoCo's and the reference's Runge-Kutta with order 4."""
    assert sound.passed, sound.data["reasons"]
    runs = sound.data["trajectory"]
    assert runs["dart"]["order"] == pytest.approx(1, abs=0.1)
    assert runs["mujoco"]["order"] == pytest.approx(4, abs=0.6)
    assert runs["mujoco"]["error"][0] < 5e-3
    assert all(c["max"] < 1e-8 for c in sound.data["acceleration"].values())


def test_json_has_the_keys_that_scripts_use_and_no_nan(sound):
    """The interface of the command line."""
    data = sound.to_json()
    for key in ("verdict", "acceleration", "one_step", "trajectory", "versions", "report"):
        assert key in data
    assert set(data["one_step"]["dart"]) == {"rms", "max"}
    assert set(data["trajectory"]["dart"]) == {"dt", "error", "order"}
    json.dumps(data, allow_nan=False)
    assert (sound.report.parent / "summary.json").is_file()
    assert "plotly" in sound.report.read_text(encoding="utf-8").lower()


@pytest.mark.parametrize("engine", ["dart", "mujoco"])
@pytest.mark.parametrize(("link", "named"), [("*", "every link"), ("base_link", "base_link")])
def test_one_per_cent_of_mass_is_found_and_named(setup, sound, tmp_path, engine, link, named):
    """The verdict fails, and says which engine, which link, and by how much."""
    result = run_crosscheck(
        setup, [engine], refine=1, out=tmp_path, mass_scale={engine: {link: 1.01}}
    )
    assert not result.passed
    assert any(f"{engine}: mass of {named} is +1 % off" in r for r in result.data["reasons"])
    assert any(f"{engine}: accelerations differ" in r for r in result.data["reasons"])
    assert math.isfinite(result.data["acceleration"][engine]["max"])


def test_masses_apart_the_motion_alone_gives_a_false_mass_away(setup, sound, tmp_path):
    """With the direct checks of masses and accelerations set aside, convergence still fails."""
    result = run_crosscheck(
        setup, ["dart"], refine=3, out=tmp_path, mass_scale={"dart": {"*": 1.01}}
    )
    assert any("converges with order" in reason for reason in result.data["reasons"])
