"""Work, limits and hashes against closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from roboaccord.contract.state import RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.run.metrics import joint_work, work_of

COLUMNS = {"time": 1, "q": 2, "qd": 2, "effort": 2, "position": 3, "orientation": 4, "twist": 6}


def ramp(count: int = 10, period: float = 0.1, sign: float = 1.0) -> Trajectory:
    """Return joints at speeds of 1 and -2 rad/s; in the i-th period the efforts are i and 3 N m."""
    states = [
        RobotState(
            i * period,
            i * period * np.array([1.0, -2.0]),
            np.array([1.0, -2.0]),
            sign * np.array([float(i), 3.0 if i else 0.0]),
        )
        for i in range(count + 1)
    ]
    return Trajectory.from_states(("a", "b"), states)


def test_net_work_is_that_of_the_efforts_that_were_in_force() -> None:
    """Sum i h = h k (k + 1) / 2 for one joint, -2 * 3 * k h for the other.

    The effort at 0 s is in force in no period; a tick off, the first sum is h k (k - 1) / 2.
    """
    k, h = 10, 0.1
    w = h * k * (k + 1) / 2 - 6.0 * k * h
    assert [joint_work(ramp(k, h, s)).sum() for s in (1.0, -1.0)] == pytest.approx([w, -w])


def test_work_counts_both_directions() -> None:
    k, h = 10, 0.1
    assert work_of(ramp(k, h)) == pytest.approx(h * k * (k + 1) / 2 + 6.0 * k * h, rel=1e-12)


@pytest.mark.parametrize(
    ("name", "column"), [(name, i) for name, count in COLUMNS.items() for i in range(count)]
)
def test_the_hash_depends_on_every_number(name: str, column: int) -> None:
    """One last bit in one row."""
    motion = ramp()
    values = np.array(getattr(motion, name))
    row = values.reshape(len(motion), -1)[-1]
    row[column] = np.nextafter(row[column], np.inf)
    assert replace(motion, **{name: values}).sha256() != motion.sha256()
