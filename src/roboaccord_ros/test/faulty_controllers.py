"""Controllers that do what a user's controller may do by mistake."""

from __future__ import annotations

import sys
import time

import numpy as np
from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.scenario.setup import Setup


class Faulty:
    """Do nothing wrong until t = 0.05 s."""

    def __init__(self, setup: Setup) -> None:
        self.count = len(setup.joints)

    def reset(self, seed: int) -> None:
        """Do nothing."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return zeros, then the mistake."""
        return self.mistake() if state.time >= 0.05 else Command(np.zeros(self.count))

    def mistake(self) -> Command:
        """Make the mistake."""
        raise NotImplementedError


class Raising(Faulty):
    """Raise."""

    def mistake(self) -> Command:
        """Divide by nothing."""
        raise ZeroDivisionError("the gait has no period")


class NotANumber(Faulty):
    """Give NaN for the third joint."""

    def mistake(self) -> Command:
        """Give NaN."""
        effort = np.zeros(self.count)
        effort[2] = np.nan
        return Command(effort)


class Slow(Faulty):
    """Take 20 ms for each answer, so that there is time to kill something."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Sleep."""
        time.sleep(0.02)
        return Command(np.zeros(self.count))


class NoSuchMagnet(Faulty):
    """Set a switch that the robot does not have."""

    def mistake(self) -> Command:
        """Name the wrong one."""
        return Command(np.zeros(self.count), {"magnet_c": True})


class Writing(Faulty):
    """Write into the state; do nothing else."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Push the joints by hand."""
        if state.time >= 0.05:
            state.q[:] += 0.001
        return Command(np.zeros(self.count))


class Endless(Faulty):
    """Come to no end, and let no ordinary exception pass."""

    def mistake(self) -> Command:
        """Go round and round."""
        while True:
            try:
                time.sleep(0.001)
            except Exception:
                continue


class Asleep(Faulty):
    """Sleep for ten minutes."""

    def mistake(self) -> Command:
        """Sleep."""
        time.sleep(600.0)
        return Command(np.zeros(self.count))


class Exiting(Faulty):
    """End the process."""

    def mistake(self) -> Command:
        """Exit as if all was well."""
        sys.exit(0)


class ExitingInReset(Faulty):
    """End the process when it is reset."""

    def reset(self, seed: int) -> None:
        """Exit as if all was well."""
        sys.exit(0)


class ExitingWhenMade(Faulty):
    """End the process when it is made."""

    def __init__(self, setup: Setup) -> None:
        sys.exit(0)


class Interrupting(Faulty):
    """Raise what a person's Ctrl-C raises."""

    def mistake(self) -> Command:
        """Raise it."""
        raise KeyboardInterrupt


class Generating(Faulty):
    """Raise what ends a generator."""

    def mistake(self) -> Command:
        """Raise it."""
        raise GeneratorExit
