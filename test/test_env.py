"""A scenario as an environment of Gymnasium: its checker passes, and efforts give a run's hash."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import roboaccord as ra

HAS_GYMNASIUM = bool(importlib.util.find_spec("gymnasium"))
needs_gymnasium = pytest.mark.skipif(not HAS_GYMNASIUM, reason="gymnasium is not installed")


@needs_gymnasium
@pytest.mark.filterwarnings("ignore:.*Box:UserWarning")  # efforts and angles have their own units
def test_the_checker_of_gymnasium_passes() -> None:
    """Spaces, resets with a seed, and steps are as the interface demands."""
    from gymnasium.utils.env_checker import check_env

    check_env(ra.make_env("snake", "serpenoid", duration=0.02), skip_render_check=True)


@needs_gymnasium
def test_the_same_efforts_give_the_hash_of_a_run(tmp_path: Path) -> None:
    """Of the scenario's own controller, to the end, where the environment is truncated."""
    run = ra.run("snake", "serpenoid", duration=0.02, out=tmp_path)
    setup = ra.setup_of("snake", "serpenoid", duration=0.02)
    env, controller = ra.make_env(setup, reward=lambda state: state.time), ra.make_controller(setup)
    for _ in range(2):  # a reset begins the same motion again
        observation, _ = env.reset()
        controller.reset(setup.scenario.seed)
        steps = []
        while not (steps and steps[-1][3]):
            steps.append(env.step(controller.update(env.state, None).effort))
        assert env.trajectory.sha256() == run.trajectory.sha256()
    assert [step[1] for step in steps] == list(run.trajectory.time[1:])
    assert len(observation) == 2 * len(setup.joints) + 13
    assert np.array_equal(steps[-1][0][: len(setup.joints)], run.trajectory.q[-1])
    with pytest.raises(ra.AccordError, match=r"the action gave 2 efforts .* has 21 joints"):
        env.step(np.zeros(2))


@needs_gymnasium
def test_a_seed_takes_the_place_of_the_scenarios() -> None:
    """Where the start depends on it; without one it is the scenario's."""
    env = ra.make_env("snake", "serpenoid", settings={"initial.spread_q": 0.1}, seed=3)
    first, same, other = (env.reset(seed=seed)[0] for seed in (None, 3, 4))
    assert np.array_equal(first, same) and not np.array_equal(first, other)


@pytest.mark.skipif(HAS_GYMNASIUM, reason="gymnasium is installed")
def test_without_gymnasium_a_line_says_what_to_install() -> None:
    """And a name that is there can be listed."""
    with pytest.raises(ra.AccordError, match=r"^make_env needs gymnasium: pip install gymnasium$"):
        ra.make_env("snake", "serpenoid")
