"""The report's two minima, found again by its own search."""

from __future__ import annotations

import numpy as np
import pytest
from monkeybot.gaits.gait import evaluate, horizontal
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.source.sampled import fminsearch, sampled_gait
from roboaccord.description.parameters import load_parameters

# Guess, and what the report prints: rates, error, switch and motor time [s]. Of its first error,
# .000016, only the digits are taken: no rates that round to its own have so small an error.
FIRST = ((1.0, 12.0), (0.902, 10.935), 1.6e-4, (0.428, 0.025))
SECOND = ((0.5, 11.75), (0.768, 11.094), 5.3e-4, None)


@pytest.fixture(scope="module")
def parameters():
    """Return the report's robot."""
    return load_parameters(MonkeyBotParameters, "monkeybot", {})


@pytest.mark.parametrize(("guess", "rates", "error", "times"), [FIRST, SECOND])
def test_the_reports_search_stops_where_it_says(parameters, guess, rates, error, times):
    """Events on samples of 1 ms and MATLAB's tolerances lead to the printed numbers.

    To 1e-3 rad/s: the integrator of MATLAB, at its default tolerance, was not that exact.
    """
    found = fminsearch(parameters, np.array(guess), 2.0)
    assert found.rates == pytest.approx(rates, abs=1e-3)
    assert found.error == pytest.approx(error, rel=0.02)
    if times:
        assert (found.switch_time, found.motor_time) == pytest.approx(times, abs=1e-9)


def test_fine_samples_lead_to_the_exact_events(parameters):
    """The error goes to that of located events, by the first order of the sample."""
    rates = np.array([0.902, 10.935])
    exact = evaluate(horizontal(2.0), parameters, rates, tolerance=1e-12)
    fine = sampled_gait(parameters, rates, 2.0, sample=1e-6)
    assert fine.switch_time == pytest.approx(exact.switch_time[0], abs=1e-6)
    assert fine.motor_time == pytest.approx(exact.motor_time[0], abs=2e-6)
    assert fine.error == pytest.approx(exact.error[0], rel=1e-3)


def test_a_start_that_misses_the_line_is_no_minimum(parameters):
    """Its error is infinite, not small."""
    assert sampled_gait(parameters, np.array([0.1, 1.0]), 2.0).error == np.inf
