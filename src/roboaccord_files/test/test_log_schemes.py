"""Logs of simulators by scheme and stamp: what these explain is no cause, and what is wrong is."""

from __future__ import annotations

import numpy as np
import pytest
from roboaccord.crosscheck.report import Report
from roboaccord.description.tree import Tree
from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.check import check_log
from roboaccord_files.logs.log import in_stretches
from test_round_off import PENDULUM

STEP = 0.002
SMOOTHED = 0.04  # rad/s; between two speeds of DRY_SPEEDS


def judged(
    scheme: str, stamp: str, *, late: int = 0, dry: float = 0.0, file: float = 0.0
) -> Report:
    """Check a pendulum of 1 kg at 0.1 m under a scheme that is written here.

    Args:
        scheme: "semi-implicit" or "forward" Euler; an effort is an impulse at the start of a step
            with the former, at its end with the latter.
        stamp: whether an effort has the time of the "start" or the "end" of its step.
        late: steps by which efforts act later than the log says, from rest.
        dry, file: dry friction of the pendulum and by its file [N m].
    """
    times = STEP * np.arange(1500)
    torques = 1.5 * np.sin(3.0 * times) + 0.4 * np.cos(7.0 * times)
    acting = np.r_[np.zeros(late), torques][: len(times)]
    q, rate, positions = 0.5, 0.0, np.zeros(len(times))
    for i, torque in enumerate(acting):
        positions[i], before = q, rate
        friction = 0.1 * rate + dry * rate / np.hypot(rate, SMOOTHED)
        rate += STEP * (torque - 0.981 * np.sin(q) - friction) / 0.02
        q += STEP * (rate if scheme == "semi-implicit" else before)
    efforts = torques if stamp == "start" else np.r_[0.0, torques[:-1]]
    tree = Tree.parse(PENDULUM.replace('damping=".1"', f'damping=".1" friction="{file}"'))
    log = in_stretches(("hinge",), times, positions[:, None], efforts[:, None])
    return check_log(log, LogBody.of(tree, ("hinge",), 9.81))


@pytest.mark.parametrize(("scheme", "stamp"), [("semi-implicit", "end"), ("forward", "start")])
def test_a_scheme_is_no_delay(scheme: str, stamp: str) -> None:
    """The impulses of efforts are a sample off their stamps. Shares below MODEL_ERROR are exact."""
    found = judged(scheme, stamp)
    assert (found.verdict, found.step.explanation.causes) == ("pass", ())
    assert found.step.share < 1e-4


def test_a_delay_is_named_whatever_acted_before_the_log() -> None:
    """Impulses 6 steps after their stamps; the scheme may be half a step of this."""
    (cause,) = judged("semi-implicit", "start", late=6).step.explanation.causes
    assert cause.quantity == "delay"
    assert cause.size == pytest.approx(6.0 * STEP, abs=0.5001 * STEP)


def test_dry_friction_of_the_file_is_one_cause_or_none_at_any_smoothing() -> None:
    """The file has what acts, and twice as much; row by row it is known to a factor of 1.4."""
    assert judged("semi-implicit", "start", dry=0.05, file=0.05).verdict == "pass"
    (cause,) = judged("semi-implicit", "start", dry=0.05, file=0.1).step.explanation.causes
    assert cause.quantity == "dry friction"
    assert cause.size == pytest.approx(-0.05, rel=0.02)
