"""The regressor of causes: intervals, the held-out half, and what cannot be told apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pytest
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array, Command
from roboaccord.crosscheck.causes.explain import SIGNIFICANT, Conclusion, explain
from roboaccord.crosscheck.causes.findings import explain_one_step
from roboaccord.crosscheck.causes.fit import Fit, Problem, fitted, independent
from roboaccord.crosscheck.causes.hypotheses import Group, Hypothesis, Sizes
from roboaccord.crosscheck.causes.search import NOISE_RATIO, Search
from roboaccord.crosscheck.measures.scheme import SchemeCheck, check_scheme
from roboaccord.report.cause_words import text_of
from roboaccord.simulators.proxy import Proxy
from test_naming import FINGER, run_of, setup_of
from test_scheme import broken

ONE, TWO, SAME = Hypothesis("mass", "a"), Hypothesis("gear", "b"), Hypothesis("armature", "c")
NAMES = (ONE, TWO, SAME)
CLIP = Hypothesis("effort limit", "a")
BLOCKS, ROWS = 80, 6


@dataclass(frozen=True)
class Lines(Problem):
    """Predict residuals that are linear in sizes: noise and errors (b, r), columns (p, b, r)."""

    recorded: Array
    columns: Array

    @property
    def independent(self) -> int:
        return self.recorded.size

    def residuals(self, sizes: Sizes) -> Array:
        now = [sizes.get(one, 0.0) for one in NAMES]
        return np.asarray(self.recorded - np.tensordot(now, self.columns, 1))

    def slopes(self, ones: Sequence[Hypothesis], at: Sizes) -> dict[Hypothesis, Array]:
        return {one: -self.columns[NAMES.index(one)] for one in ones}

    def groups(self) -> list[Group]:
        return [(one,) for one in NAMES]

    def starts(self) -> Iterator[tuple[Group, Sequence[float]]]:
        yield from ()

    def variants(self) -> Iterator[tuple[Cause, Self]]:
        yield from ()

    def subset(self, blocks: slice) -> Self:
        return replace(self, recorded=self.recorded[blocks], columns=self.columns[:, blocks])

    def explains(self, plain: Fit, fit: Fit, times: float) -> bool:
        return fit.cost <= times * NOISE_RATIO * fit.residuals.size

    def adds(self, before: Fit, fit: Fit) -> bool:
        return before.cost - fit.cost > SIGNIFICANT**2


def lines(seed: int, sizes: Sequence[float], kept: float = 0.0) -> Lines:
    """Return errors of sizes in noise, a part of which goes on from block to block (AR 1)."""
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((3, BLOCKS, ROWS))
    columns[2] = -0.3 * columns[0]  # nothing tells these two apart
    columns += kept * np.array([1.0, 0.5, -0.3])[:, None, None]
    noise = rng.standard_normal((BLOCKS, ROWS))
    for i in range(1, BLOCKS):
        noise[i] = kept * noise[i - 1] + np.sqrt(1.0 - kept**2) * noise[i]
    return Lines(noise + np.tensordot(sizes, columns, 1), columns)


class Clipped(Lines):
    """Predict efforts (b, r) that an unknown limit clips."""

    def residuals(self, sizes: Sizes) -> Array:
        return np.asarray(self.recorded - self.columns[0].clip(-sizes[CLIP], sizes[CLIP]))

    def slopes(self, ones: Sequence[Hypothesis], at: Sizes) -> dict[Hypothesis, Array]:
        asked = self.columns[0]
        return {CLIP: -np.sign(asked) * (np.abs(asked) > at[CLIP])}


@pytest.mark.parametrize(("limit", "begin"), [(0.4, 0.6), (7.0, 9.0), (160.0, 120.0)])
def test_an_effort_limit_of_any_size_is_fitted(limit: float, begin: float) -> None:
    """Of a finger as of a shoulder [N m]; what bounds lengths and angles does not bound it."""
    asked = 2.0 * limit * np.random.default_rng(0).standard_normal((1, BLOCKS, ROWS))
    problem = Clipped(asked[0].clip(-limit, limit), asked)
    assert fitted(problem, ((CLIP,),), {CLIP: begin}).sizes[CLIP] == pytest.approx(limit)


def test_hypotheses_that_nothing_tells_apart_are_one_finding() -> None:
    """Both names, in an order that their sizes do not change, and said of them before the fit."""
    problem = lines(0, (0.0, 0.0, 2.0))
    found = explain(Search(problem))[0]
    assert found.code is Conclusion.ALIKE
    assert [each.quantity for each in (*found.causes, *(c for (c,) in found.instead))] == [
        "armature", "mass",
    ]  # fmt: skip
    assert independent(problem.columns.reshape(3, -1)) == [0, 1]
    assert text_of(found).startswith("cannot be distinguished: armature of c is +2 kg m^2 off; ")


@pytest.mark.parametrize("kept", [0.0, 0.3])
def test_intervals_hold_in_19_of_20_draws(kept: float) -> None:
    """300 draws by fixed seeds, of noise without and with a memory: 95 % within 3 deviations."""
    held = []
    for seed in range(300):
        fit = fitted(lines(seed, (0.0, 0.7, 0.0), kept), ((TWO,),))
        held.append(abs(fit.sizes[TWO] - 0.7) < fit.half_width(TWO))
    assert 0.91 < np.mean(held) < 0.98


def test_two_causes_are_named_together_and_no_gear_of_the_other_sign() -> None:
    found = explain(Search(lines(1, (3.0, 1.5, 0.0))))[0]
    every = [{each.quantity for each in causes} for causes in (found.causes, *found.instead)]
    assert every == [{"armature", "gear"}, {"gear", "mass"}]
    assert explain(Search(lines(1, (0.0, -2.0, 0.0))))[0].causes == ()


def test_a_cause_that_does_not_explain_the_held_out_half_is_not_named() -> None:
    """An error of the first half alone: the fit of all leaves little, and the other half more."""
    found = explain(Search(lines(2, (0.0, 0.5, 0.0))))[0]
    assert found.code is Conclusion.NAMED and found.held < 1.0
    errors, noise = lines(2, (0.0, 0.5, 0.0)), lines(2, (0.0, 0.0, 0.0))
    half = np.where(np.arange(BLOCKS)[:, None] < BLOCKS // 2, errors.recorded, noise.recorded)
    found = explain(Search(replace(errors, recorded=half)))[0]
    assert found.code is not Conclusion.NAMED and found.causes == ()


def test_errors_of_one_physics_step_are_explained() -> None:
    """What time stepping explains is then unknown: it counts as 0 in each of the ticks."""
    setup = setup_of(FINGER)
    engine = broken("dart", Proxy)
    run = run_of(setup, engine)
    found = explain_one_step(setup, {setup.scenario.physics_step: run}, order=1)
    assert found.asked


def test_a_motor_that_lags_is_named() -> None:
    """By a lag of first order of 5 ms, which is 2.5 ticks."""

    class Lagging(Proxy):
        def _advance(self, command: Command, duration: float) -> None:
            steps = round(duration / self.physics_step)
            kept = np.exp(-self.physics_step / 5e-3)
            if not self._inner.state().time:
                self.acting = np.array(command.effort)
            for _ in range(steps):
                self.acting[0] += (1.0 - kept) * (command.effort[0] - self.acting[0])
                acting = np.r_[self.acting[:1], command.effort[1:]]
                self._inner.step(replace(command, effort=acting), self.physics_step)

        def _read(self):  # type: ignore[no-untyped-def]
            return replace(super()._read(), effort=self._effort)

    setup = setup_of(FINGER)
    engine = broken("dart", Lagging)
    found = check_scheme(setup, engine, run_of(setup, engine))
    assert isinstance(found, SchemeCheck)
    (cause,) = found.explanation.causes
    assert (cause.quantity, cause.where) == ("motor lag", setup.joints[0])
    assert cause.size == pytest.approx(5e-3, rel=0.1)
