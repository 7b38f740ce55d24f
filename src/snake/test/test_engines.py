"""DART and MuJoCo against the reference: one description, one law, three simulators."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from roboaccord import Command, make_simulator
from roboaccord.run.metrics import metrics_of
from running import or_skip, run_in

pytestmark = pytest.mark.thorough

ENGINES = ["dart", "mujoco"]


def engine(setup, name):
    """Return an engine's simulator, or skip with the reason."""
    with or_skip():
        return make_simulator(setup, name)


@pytest.mark.parametrize("name", ["reference", *ENGINES])
@pytest.mark.parametrize(("joints", "speed"), [(21, 1.066), (20, 1.03)])
def test_serpenoid_speed(setup_with, name, joints, speed):
    """Within 3 % of an independent computation: 1.066 m/s with 21 joints, 1.03 with 20."""
    setup = setup_with(f"parameters.joints={joints}", "duration=4")
    trajectory = run_in(setup, engine(setup, name), duration=4.0)
    assert metrics_of(setup, trajectory)["speed"] == pytest.approx(speed, rel=0.03)


@pytest.mark.slow
def test_kernels_from_the_compiler_and_from_the_cache_give_the_same_hash(tmp_path):
    """In a process that compiles, and one in a process that finds the kernels compiled.

    Of accelerations, whose sums over 22 links a compiler could round otherwise.
    """
    code = (
        "import hashlib, numpy as np\n"
        "from roboaccord import Setup, load_scenario\n"
        "from test_dynamics import forward\n"
        "setup = Setup.of(load_scenario('snake', 'snake', 'serpenoid'))\n"
        "rng, n = np.random.default_rng(0), setup.parameters.links\n"
        "found = [forward(setup, rng.normal(size=2 * n + 4), rng.normal(size=n - 1))\n"
        "         for _ in range(500)]\n"
        "print(hashlib.sha256(np.array(found).tobytes()).hexdigest())\n"
    )
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])  # with the tests' folders
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": paths}
    command = [sys.executable, "-c", code]
    hashes = [subprocess.check_output(command, env=environment, text=True) for _ in range(2)]
    assert list(tmp_path.rglob("*.nbc")), "the kernels were not cached"
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize("name", ENGINES)
def test_a_joint_pressed_on_its_stop_stands_at_it(setup_with, name):
    """A stop is rigid: 0.1 N m, 2000 rad/s^2 for a link alone, holds it within 1e-4 rad."""
    setup = setup_with("parameters.joints=1", "friction={law: none}")
    simulator = engine(setup, name)
    for _ in range(300):
        state = simulator.step(Command(np.array([0.1])), 1e-3)
    assert state.q[0] == pytest.approx(setup.parameters.joint_limit, abs=1e-4)
    assert abs(state.qd[0]) < 1e-3


def test_dart_does_not_kick_a_joint_that_is_beyond_its_stop(setup_with):
    """It comes back at the speed asked for; unasked DART throws it back at up to 10 rad/s."""
    from dataclasses import replace

    setup = setup_with("friction={law: none}")
    simulator = engine(setup, "dart")
    from roboaccord.engines.dart.simulator import STOP_RETURN

    q = np.zeros(setup.parameters.joints)
    q[10] = setup.parameters.joint_limit + 0.02
    simulator.reset(replace(setup.initial, q=q))
    state = simulator.step(Command(np.zeros(len(q))), 1e-3)
    assert state.qd[10] == pytest.approx(-STOP_RETURN, rel=1e-6)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize(
    "changes",
    [
        ("friction={law: ellipse, mu_along: 0.1, mu_across: 1.0}",),
        ("friction={law: pyramid, points: corners, loads: rigid}",),
        ("friction={law: ellipse, beyond: {x: 0.3, mu_along: 0.5, mu_across: 0.6}}",),
        ("friction={law: ellipse}", "base=fixed"),
    ],
)
def test_the_compiled_law_gives_the_bits_of_the_one_in_python(
    setup_with, random_state, name, changes
):
    """Python moves the links, asks the law and brings its forces to the joints, call by call."""
    setup = setup_with(*changes)
    compiled, python = engine(setup, name), engine(setup, name)
    assert compiled._compiled is not None
    python._compiled = None
    state, effort = random_state(setup, np.random.default_rng(5))
    ends = []
    for simulator in (compiled, python):
        simulator.reset(state)
        ends.append([simulator.step(Command(0.02 * effort), 1e-3) for _ in range(20)])
    for one, other in zip(*ends, strict=True):
        for array in ("q", "qd", "position", "orientation", "twist"):
            np.testing.assert_array_equal(getattr(one, array), getattr(other, array))
