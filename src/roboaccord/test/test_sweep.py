"""Statistics against closed forms, and the verdict that is made from them."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from roboaccord.contract.outcome import Code
from roboaccord.crosscheck.levels.statistics import compare_cells, judge_seeds
from roboaccord.numerics.statistics import median_difference, share_probability, statistics_of
from roboaccord.run.sweep import Cell
from roboaccord.scenario.scenario import StatisticsSpec


def cell(values: list[float], engine: str = "dart", failures: dict[int, str] | None = None) -> Cell:
    return Cell(engine, 1e-3, dict(enumerate(values)), failures or {})


def test_statistics_of_a_sample_are_those_of_the_textbook() -> None:
    """2, 4, 4, 4, 6: mean and median 4, deviation sqrt(2); t of 4 degrees at 97.5 % is 2.776."""
    found = statistics_of([2.0, 4.0, 4.0, 4.0, 6.0])
    assert (found.n, found.mean, found.median, found.positive) == (5, 4.0, 4.0, 1.0)
    assert found.deviation == pytest.approx(math.sqrt(2))
    assert found.half_width == pytest.approx(2.776 * math.sqrt(2 / 5), rel=1e-3)
    assert statistics_of([-1.0, 0.0, 1.0, 2.0]).positive == 0.5
    assert math.isnan(statistics_of([1.0]).half_width)
    assert math.isnan(statistics_of([]).mean)


@pytest.mark.slow
def test_the_interval_of_a_difference_of_medians_holds_it_as_often_as_it_says() -> None:
    """Medians 3 and 1: 95 of 100 intervals hold 2; a bootstrap errs to the safe side here."""
    rng = np.random.default_rng(2)
    held = [
        low < 2.0 < high
        for low, high in (
            median_difference(rng.normal(3.0, 2.0, 20).tolist(), rng.normal(1.0, 0.5, 20).tolist())
            for _ in range(400)
        )
    ]
    assert 0.92 < np.mean(held) < 0.99
    assert median_difference([1.0, 1.0], [3.0, 3.0]) == (-2.0, -2.0)


def test_shares_are_compared_by_fishers_test() -> None:
    """The lady tasting tea: 3 of 4 and 1 of 4 are no evidence, p = 34 / 70."""
    assert share_probability([1, 1, 1, -1], [1, -1, -1, -1]) == pytest.approx(34 / 70)
    spec = StatisticsSpec(figure="speed", seeds=20)
    reference = cell([-1.0] * 20, "reference")
    mixed = cell([-1.0] * 13 + [1.0] * 7)
    found = judge_seeds(compare_cells(reference, mixed, spec, {}))
    assert (found.outcome, found.codes) == ("outside", (Code.SHARES,))
    assert "35 % of the runs have speed above 0" in found.reason


def test_an_interval_holds_the_true_mean_as_often_as_it_says() -> None:
    """95 of 100 intervals; over 2000 of them, four standard errors are 2 %."""
    rng = np.random.default_rng(1)
    samples = [statistics_of(rng.normal(3.0, 2.0, 8).tolist()) for _ in range(2000)]
    share = np.mean([abs(s.mean - 3.0) < s.half_width for s in samples])
    assert share == pytest.approx(0.95, abs=0.02)


def test_the_verdict_fails_beyond_the_allowance_and_for_runs_without_a_value() -> None:
    reference = cell([0.9, 1.0, 1.1, 1.0], "reference")
    spec = StatisticsSpec(figure="speed", seeds=4, allowance=0.1)
    near, far = cell([1.0, 1.1, 1.2, 1.1]), cell([2.0, 2.1, 1.9, 2.0])
    assert judge_seeds(compare_cells(reference, near, spec, {})).outcome == "within"
    found = judge_seeds(compare_cells(reference, far, spec, {}))
    knocked = replace(compare_cells(reference, far, spec, {}), loop=-2.0)  # from stop to stop
    assert found.outcome == judge_seeds(replace(knocked, loop=0.3)).outcome == "outside"
    thrown = judge_seeds(knocked)
    assert (thrown.outcome, thrown.codes) == ("not_judged", (Code.MEDIANS, Code.THROWN))
    assert (found.codes, found.quantity) == ((Code.MEDIANS,), "speed")
    strict = StatisticsSpec(figure="speed", seeds=4)
    tight = cell([1.3, 1.31, 1.3, 1.31])
    assert judge_seeds(compare_cells(reference, tight, strict, {})).outcome == "outside"
    lost = cell([1.0, 1.0, 1.0], failures={3: "dart diverged at t = 1 s"})
    found = judge_seeds(compare_cells(reference, lost, spec, {}))
    assert (found.outcome, found.codes) == ("outside", (Code.NO_FIGURE,))
    assert found.reasons[0].figures["runs"] == 1
    short = dict.fromkeys(range(4), "shorter than a cycle")
    both = [replace(cell([], name), failures=short) for name in ("reference", "dart")]
    found = judge_seeds(compare_cells(*both, spec, {}))
    assert (found.outcome, found.codes) == ("not_judged", (Code.FEW_RUNS,))
    itself = judge_seeds(compare_cells(reference, reference, spec, {}))
    assert (itself.outcome, itself.codes) == ("not_judged", (Code.FEW_RUNS,))


def test_medians_may_differ_by_what_the_step_moves_them_and_must_be_known() -> None:
    """Moves of 0.2 and 0.1 allow 0.3; moves or spread of the size of the mean allow no verdict."""
    strict = StatisticsSpec(figure="speed", seeds=4)
    reference = cell([0.99, 1.0, 1.01, 1.0], "reference")
    other = cell([1.29, 1.3, 1.31, 1.3])
    found = judge_seeds(compare_cells(reference, other, strict, {"dart": -0.2}))
    assert (found.outcome, found.codes) == ("outside", (Code.MEDIANS,))
    moved = compare_cells(reference, other, strict, {"dart": -0.2, "reference": 0.1})
    assert moved.allowance == pytest.approx(0.3)
    assert judge_seeds(moved).outcome == "within"
    still = compare_cells(reference, cell([1.0, 1.0, 1.0, 1.01]), strict, {"dart": 0.6})
    wild = compare_cells(reference, cell([-1.0, 2.0, -1.0, 3.0]), strict, {})
    for check in (still, wild):
        found = judge_seeds(check)
        assert (found.outcome, found.codes) == ("not_judged", (Code.UNSETTLED,))
    unknown = compare_cells(reference, other, strict, {"dart": float("nan")})
    found = judge_seeds(unknown)
    assert (found.outcome, found.codes) == ("not_judged", (Code.NO_FIGURE_AT_STEP,))
