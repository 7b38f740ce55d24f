"""Inputs of a run that was recorded, to be repeated from its bag."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path

from roboaccord.bag.content import Content
from roboaccord.bag.reader import run_of
from roboaccord.bag.targets import read_targets
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import fault_of
from roboaccord.contract.interfaces import Inputs
from roboaccord.contract.state import NO_SWITCHES, RobotState, Target
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup

_ROUND_OFF = 1e-7  # s, far below any control period
_FREE = {"name", "description", "duration", "driven", "crosscheck"}  # keys that move nothing


class RecordedInputs(Inputs):
    """Give the targets and the switches of a bag, each at its tick.

    Args:
        bag: of the run to repeat; it may be unfinished.

    Attributes:
        duration: of the recorded run [s].
        fault_texts: of its scenario, and those that came as it ran, as texts.

    Raises:
        AccordError: if it is no bag, is damaged, or says nothing of its scenario.
    """

    over = False

    def __init__(self, bag: Path) -> None:
        content = Content.of(bag)
        content.check()
        run = run_of(content)
        content.check_motion(run.trajectory)
        if not run.scenario:
            raise AccordError(f"{bag} does not say of which scenario it is")
        self.bag, self._scenario = bag, make_scenario(run.scenario).data()
        targets = read_targets(content, run.trajectory.joints)
        self._times = [time for time, _ in targets]
        self._targets = [None, *(target for _, target in targets)]
        self._ticks, self._switches = run.trajectory.time, run.trajectory.switches
        came = [str(fault) for fault in map(fault_of, run.trajectory.events) if fault]
        self.fault_texts = (*self._scenario["faults"], *came)
        self.duration = float(self._ticks[-1])

    def check(self, setup: Setup) -> None:
        """Refuse a setup that is not the recorded one.

        Raises:
            AccordError: naming the first key that differs.
        """
        for key, here in setup.scenario.data().items():
            there = self.fault_texts if key == "faults" else self._scenario[key]
            if key not in _FREE and here != there:
                raise AccordError(
                    f"{self.bag} was recorded with {key} {_plain(there)}, not {_plain(here)}"
                )

    def target(self, state: RobotState) -> Target | None:
        return self._targets[bisect_right(self._times, state.time + _ROUND_OFF)]

    def switches(self, state: RobotState) -> Mapping[str, bool]:
        if not self._switches:
            return NO_SWITCHES
        after = int(self._ticks.searchsorted(state.time + _ROUND_OFF))
        if after == len(self._ticks):
            return NO_SWITCHES
        return {name: bool(on[after]) for name, on in self._switches.items()}


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_plain(v)}" for k, v in value.items()) + "}"
    return str(value)
