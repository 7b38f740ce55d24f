"""The environment of Gymnasium that `make_env` (env.py) makes; only that imports this module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from roboaccord.contract import Array, Command, Engine, RobotState, Trajectory, count_steps
from roboaccord.contract.checks import check_command
from roboaccord.contract.errors import DivergedError
from roboaccord.run import make_simulator
from roboaccord.run.loop import Stepper
from roboaccord.run.metrics import KeptMotion
from roboaccord.scenario import Setup

Step = tuple[Array, float, bool, bool, dict[str, Any]]


class ScenarioEnv(gymnasium.Env):  # type: ignore[misc,type-arg,unused-ignore]
    """A scenario that is driven by joint efforts; see `make_env` for actions and observations.

    Args:
        setup: robot and scenario.
        engine: that simulates it.
        reward: function of the state after a step.
    """

    def __init__(self, setup: Setup, engine: Engine, reward: Callable[[RobotState], float]) -> None:
        self._setup, self._reward = setup, reward
        scenario, limits = setup.scenario, setup.effort_limits
        self._ticks = count_steps(scenario.duration, scenario.control_period, "duration")
        self._simulator = make_simulator(setup, engine)
        self.action_space = Box(-limits, limits, dtype=np.float64)
        size = 2 * len(setup.joints) + 13
        self.observation_space = Box(-np.inf, np.inf, (size,), np.float64)
        self._start(setup.initial)

    @property
    def state(self) -> RobotState:
        """The current state, which controllers answer."""
        return self._stepper.state

    @property
    def trajectory(self) -> Trajectory:
        """The motion since the last reset."""
        return self._motion.trajectory

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Go to the start of the scenario, with a seed in place of its own if one is given."""
        super().reset(seed=seed)
        initial = self._setup.initial
        if seed is not None:
            scenario = self._setup.scenario.model_copy(update={"seed": seed})
            initial = Setup.of(scenario, self._setup.robot).initial
        self._start(initial)
        return self._observation(), {"time": 0.0}

    def step(self, action: Array) -> Step:
        """Advance by one control period: observation, reward, terminated, truncated, and info.

        The info has the `time` [s] and `events`, and `diverged`, a line, where the motion does.
        """
        last, command = self._stepper.state, Command(np.array(action, dtype=float))
        check_command(command, self._setup.joints, "the action", last.time)
        try:
            events = self._stepper.step(command)
        except DivergedError as error:
            self._stepper.state = last
            return self._observation(), 0.0, True, False, {"diverged": str(error)}
        state = self._stepper.state
        info = {"time": state.time, "events": events}
        truncated = self._stepper.tick >= self._ticks
        return self._observation(), float(self._reward(state)), False, truncated, info

    def _start(self, initial: RobotState) -> None:
        """Put the simulator into a state, with an empty motion."""
        self._motion = KeptMotion(self._simulator.joints)
        period = self._setup.scenario.control_period
        self._stepper = Stepper(self._simulator, initial, period, [self._motion])
        self._stepper.start()

    def _observation(self) -> Array:
        """Return joints and base of the state (2 n + 13,)."""
        s = self._stepper.state
        return np.concatenate([s.q, s.qd, s.position, s.orientation, s.twist])
