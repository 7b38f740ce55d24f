"""A scenario as an environment of Gymnasium, the interface of libraries for learning.

`make_env` makes a `ScenarioEnv`: actions are joint efforts, observations joints and base. Its steps
are those of a run (`Stepper` of run/loop.py), so the same efforts give the same hash, which
test_env compares. The order of an observation stays; a term is added at its end. Gymnasium is the
extra `gym`, and is imported only when an environment is made.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from roboaccord.contract import Engine, RobotState
from roboaccord.contract.errors import need
from roboaccord.door import arguments

if TYPE_CHECKING:
    from roboaccord.door.scenario_env import ScenarioEnv


def make_env(
    robot: arguments.Subject,
    scenario: str | Path | None = None,
    *,
    engine: Engine = "reference",
    settings: arguments.Settings | None = None,
    reward: Callable[[RobotState], float] = lambda state: 0.0,
    **options: Unpack[arguments.Keywords],
) -> ScenarioEnv:
    """Make an environment of Gymnasium: a scenario that is driven by joint efforts.

    Its own controller is not used. An action is the efforts of the n joints over one control
    period [N m], within their limits. An observation is joint angles (n,) [rad], rates (n,)
    [rad/s], and of the base position (3,) [m], orientation (4,) as x, y, z, w, and twist (6,) in
    its axes [m/s, rad/s]. It is truncated at the scenario's duration, and terminated if the motion
    diverges. `reset(seed=...)` takes the place of the scenario's seed.

    Args:
        robot: name or file of a robot, or a robot in a scenario.
        scenario: name, or a YAML file; not needed for a robot's file.
        engine: `reference`, or an engine by name or specification.
        settings: values by key of the scenario.
        reward: function of the state after a step; 0 by default.
        **options: as of `run`.

    Returns:
        the environment; `env.trajectory` is the motion since the reset, with its `sha256()`.

    Raises:
        AccordError: without Gymnasium, or as `setup_of` and `make_simulator`.

    Example:
        >>> env = ra.make_env("snake", "serpenoid", duration=1, reward=lambda s: s.twist[0])
        >>> observation, info = env.reset(seed=0)
        >>> step = env.step(env.action_space.sample())
    """
    need("make_env needs", "gym")
    from roboaccord.door.scenario_env import ScenarioEnv

    return ScenarioEnv(arguments.setup_of(robot, scenario, settings, **options), engine, reward)
