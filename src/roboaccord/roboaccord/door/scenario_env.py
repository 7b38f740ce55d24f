"""The environment of Gymnasium that `make_env` (env.py) makes; only that imports this module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from roboaccord.contract import Array, Command, Engine, RobotState, Trajectory, count_steps
from roboaccord.contract.checks import check_command
from roboaccord.contract.errors import DivergedError
from roboaccord.run import KeptMotion, Stepper, make_simulator
from roboaccord.scenario import Setup

Info = dict[str, Any]


class ScenarioEnv(gymnasium.Env):  # type: ignore[misc,type-arg,unused-ignore]
    """A scenario that is driven by joint efforts; see `make_env` for actions and observations.

    Args:
        setup: robot and scenario.
        engine: that simulates it.
        reward: function of the state after a step.

    Attributes:
        state: the current one, which controllers answer.
    """

    def __init__(self, setup: Setup, engine: Engine, reward: Callable[[RobotState], float]) -> None:
        self._setup, self._reward = setup, reward
        self._simulator = make_simulator(setup, engine)
        limits, size = setup.effort_limits, 2 * len(setup.joints) + 13
        self.action_space = gymnasium.spaces.Box(-limits, limits, dtype=np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float64)
        self._start(setup)

    @property
    def trajectory(self) -> Trajectory:
        """The motion since the last reset."""
        return self._motion.trajectory

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Array, Info]:
        """Go to the start of the scenario, with a seed in place of its own if one is given."""
        super().reset(seed=seed)
        scenario = self._setup.scenario.model_copy(update={} if seed is None else {"seed": seed})
        return self._start(Setup.of(scenario, self._setup.robot)), {"events": ()}

    def step(self, action: Array) -> tuple[Array, float, bool, bool, Info]:
        """Advance by one control period: observation, reward, terminated, truncated, and info.

        The info has the `events`, and `diverged`, a line, where the motion diverges.
        """
        command = Command(np.array(action, dtype=float))
        check_command(command, self._setup.joints, "the action", self.state.time)
        try:
            info: Info = {"events": self._stepper.step(command)}
        except DivergedError as error:
            return self._observe(self.state), 0.0, True, False, {"diverged": str(error)}
        observation = self._observe(self._stepper.state)
        is_over = self._stepper.tick >= self._ticks
        return observation, float(self._reward(self.state)), False, is_over, info

    def _start(self, setup: Setup) -> Array:
        """Start the scenario of a setup, and return what is observed."""
        period = setup.scenario.control_period
        self._ticks = count_steps(setup.scenario.duration, period, "duration")
        self._motion = KeptMotion(setup.joints)
        self._stepper = Stepper(self._simulator, setup.initial, period, [self._motion])
        self._stepper.start()
        return self._observe(self._stepper.state)

    def _observe(self, state: RobotState) -> Array:
        """Return joints and base of a state (2 n + 13,), and keep it."""
        self.state = state
        return np.concatenate([state.q, state.qd, state.position, state.orientation, state.twist])
