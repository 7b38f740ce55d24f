"""Level `drive`: whatever an engine makes of its commands is found, and its kind named."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from roboaccord.contract.outcome import Code
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.crosscheck.levels.drive import (
    Disobedience,
    DriveCheck,
    DriveLevel,
    DriveTicks,
    Kind,
    kinds_of,
)
from roboaccord.scenario.scenario import Tolerances
from running import setup_of

JOINTS = ("a", "b", "c")
MAKE = {
    "lost": lambda e, j, x: 0.0 * e[:, j],
    "reversed": lambda e, j, x: -e[:, j],
    "late": lambda e, j, x: np.concatenate([np.zeros(int(x)), e[: -int(x), j]]),
    "swapped": lambda e, j, x: e[:, (j + 1) % 3],
    "clipped": lambda e, j, x: np.clip(e[:, j], -x, x),
    "scaled": lambda e, j, x: x * e[:, j],
}


@given(
    seed=st.integers(0, 10**6), kind=st.sampled_from(sorted(MAKE)), joint=st.integers(0, 2),
    start=st.integers(0, 60), size=st.floats(0.05, 0.95),
)  # fmt: skip
def test_the_kind_of_an_error_is_named_with_its_size(
    seed: int, kind: Kind, joint: int, start: int, size: float
) -> None:
    """Random efforts of 100 ticks, of which those from `start` on are not as commanded."""
    meant = np.random.default_rng(seed).uniform(-1.0, 1.0, (100, 3))
    value = {"late": float(1 + seed % 5), "clipped": size, "scaled": size}.get(kind, 0.0)
    wrong = MAKE[kind](meant, joint, value)
    force = meant.copy()
    force[start:, joint] = wrong[start:]
    if (force == meant).all():  # nothing was above the limit
        assert kind == "clipped"
        return
    (found,) = [each for each in kinds_of(meant, force, joint, JOINTS) if each.kind == kind]
    other = JOINTS[(joint + 1) % 3] if kind == "swapped" else ""
    assert (found.size, found.other) == (pytest.approx(value, rel=1e-8), other)


@given(seed=st.integers(0, 10**6), bits=st.integers(0, 2))
def test_nothing_is_named_that_round_off_makes_or_that_no_kind_explains(
    seed: int, bits: int
) -> None:
    rng = np.random.default_rng(seed)
    meant = rng.uniform(-1.0, 1.0, (50, 3))
    noisy = meant + 1e-3 * rng.standard_normal(meant.shape)
    assert kinds_of(meant, noisy, 1, JOINTS) == []


def test_a_constant_effort_shows_a_factor_and_a_limit_alike() -> None:
    """Both are said: 0.9 of an effort of 2 N m is 2 N m clipped at 1.8."""
    meant = np.full((10, 1), 2.0)
    found = kinds_of(meant, 0.9 * meant, 0, ("a",))
    assert [each.kind for each in found] == ["clipped", "scaled"]
    assert [each.size for each in found] == pytest.approx([1.8, 0.9], rel=1e-9)


def test_a_finding_has_joint_time_and_kind() -> None:
    check = DriveCheck(100, 100, 40, 0.5, "b", 0.25, [Disobedience("late", 1.0)], joints=3)
    found = DriveLevel().judge(check, Tolerances())
    assert (found.outcome, found.quantity, found.where) == ("outside", "effort", "b")
    assert found.reason == (
        "effort of b (and of 2 other joints) is not as commanded from t = 0.25 s on: 1 tick late; "
        "40 of 100 ticks are off"
    )
    assert DriveLevel().judge(DriveCheck(0, 100), Tolerances()).outcome == "does_not_apply"
    assert DriveLevel().judge(DriveCheck(100, 100), Tolerances()).outcome == "within"
    off = {"switch": "magnet_a", "since": 0.5}
    switch = DriveLevel().judge(DriveCheck(100, 100, 1, **off), Tolerances())
    assert (switch.quantity, switch.where) == ("switch", "magnet_a")
    both = DriveLevel().judge(replace(check, **off), Tolerances())
    assert (both.where, both.codes) == ("b", (Code.DISOBEYED, Code.SWITCH_DISOBEYED))
    assert "switch magnet_a is not as commanded from t = 0.5 s on" in both.reason


def feed(ticks: DriveTicks, force: Array, commands: list[Array | None]) -> DriveCheck:
    """Give ticks of 10 ms their efforts in force (k, n), and what was commanded."""
    rest = np.zeros(force.shape[1])
    states = [RobotState(0.01 * i, rest, rest, row) for i, row in enumerate([rest, *force])]
    for (before, after), command in zip(pairwise(states), commands, strict=True):
        ticks.compare(before, after, None if command is None else Command(command))
    return ticks.check()


def test_the_joint_that_is_off_first_is_named_by_its_own_efforts() -> None:
    """Another joint goes wrong later, in another way, and efforts of others are far larger."""
    setup = setup_of("packbot", "reach")
    rng = np.random.default_rng(5)
    meant = rng.uniform(-1.0, 1.0, (3000, len(setup.joints)))
    meant[:, 1] *= 5.0
    force = meant.copy()
    force[10:, 3] *= 1.0 - 1e-6
    force[2500:, 0] *= -1.0
    found = feed(DriveTicks(setup), force, list(meant))
    assert (found.where, found.joints, found.off) == (setup.joints[3], 2, 2990)
    assert found.time == pytest.approx(0.1)
    assert [each.kind for each in found.kinds] == ["scaled"]
    assert kinds_of(meant, meant, 0, setup.joints) == []


@pytest.mark.parametrize("lost", [40, 41, 43])
def test_commands_that_were_not_recorded_condemn_nothing_that_is_late(lost: int) -> None:
    """Where nothing waits for a command, one that acts three ticks late may be an unknown one."""
    setup = setup_of("packbot", "reach")
    meant = np.random.default_rng(6).uniform(-1.0, 1.0, (100, len(setup.joints)))
    force = np.concatenate([np.zeros((3, len(setup.joints))), meant[:-3]])
    commands: list[Array | None] = list(meant)
    commands[lost] = None
    assert feed(DriveTicks(setup, late=20), force, commands).off == 0
    assert feed(DriveTicks(setup), force, commands).off == 99
