"""The snake's energy book: figures of an independent book, and a rest that falls with the step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from roboaccord.run.energy_book import energy_of
from running import book_of, run_in, setup_of

pytestmark = pytest.mark.thorough

CHANNELS = ("friction", "damping", "stops", "impacts")


def book(scenario, engine, duration, **changes):
    """Return the book of a run, its items at the end."""
    words = [f"{key}={value}" for key, value in {"duration": duration, **changes}.items()]
    found, _ = book_of(setup_of("snake", scenario, *words), engine)
    at_end = {key: getattr(found, key)[-1] for key in ("net_work", "potential", *CHANNELS, "rest")}
    at_end["kinetic"] = found.kinetic[-1] - found.kinetic[0]
    parts = sum(at_end[key] for key in ("kinetic", "potential", *CHANNELS, "rest"))
    assert parts == pytest.approx(at_end["net_work"], rel=1e-12)
    return at_end


@pytest.mark.parametrize("engine", ["reference", pytest.param("mujoco", marks=pytest.mark.slow)])
def test_the_serpenoid_closes(engine):
    """18.130 J = 3.015 kinetic + 15.115 friction, by an independent book; the rest is -3.9e-5 J."""
    found = book("serpenoid", engine, 3.0)
    assert found["net_work"] == pytest.approx(18.130, abs=5e-4)
    assert found["kinetic"] == pytest.approx(3.015, abs=5e-4)
    assert found["friction"] == pytest.approx(15.115, abs=5e-4)
    assert found["rest"] == pytest.approx(-3.9e-5, abs=5e-7)
    assert found["stops"] == found["impacts"] == found["damping"] == found["potential"] == 0.0


@pytest.mark.slow
def test_the_rest_of_darts_serpenoid_falls_by_the_order_of_its_step():
    """.074 J at 1 ms and .020 at .25 ms, by an independent book: first order."""
    rests = [book("serpenoid", "dart", 3.0, physics_step=h)["rest"] for h in (1e-3, 2.5e-4)]
    assert rests == pytest.approx([0.074, 0.020], abs=5e-4)


@pytest.mark.slow
def test_nearly_half_of_the_posts_work_goes_into_the_stops():
    """238.0 J of work, 110.4 friction, 20.0 kinetic: that leaves 107.6 J, or 45 %.

    An independent book had those as a difference. The reference's impulses, one by one, take as
    much but for the error of its steps, which falls with them. The motion is chaotic: a start that
    differs by 1e-15 rad changes each by some tenths of a joule, so the book's are among several.
    """
    starts = ({"initial.q.joint_05": e} for e in (0.0, 1e-15, 1e-14, 1e-13, 1e-12))
    found, *more = (book("lateral_undulation", "reference", 2.0, **start) for start in starts)
    items = ("net_work", 238.0), ("friction", 110.4), ("kinetic", 20.0), ("stops", 107.6)
    for name, expected in items:
        values = [each[name] + (name == "stops") * each["rest"] for each in (found, *more)]
        spread = np.std(values, ddof=1)
        assert spread < 1.0 and abs(np.mean(values) - expected) < 3.0 * spread
    shares = [each["stops"] / each["net_work"] for each in (found, *more)]
    assert shares == pytest.approx([0.45] * 5, abs=0.01)
    finer = book("lateral_undulation", "reference", 2.0, physics_step=1.25e-4)
    assert abs(finer["rest"]) < abs(found["rest"]) / 4.0  # first order at least


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "difference"), [("mujoco", 96.0), ("dart", 118.0)])
def test_what_engines_lose_in_the_posts_gait_is_stops_and_time_stepping(engine, difference):
    """An independent book has stops and rest as one.

    MuJoCo's stops take nearly all of it; DART's step takes a part that falls as its order says.
    """
    found = book("lateral_undulation", engine, 2.0)
    assert found["stops"] + found["rest"] == pytest.approx(difference, abs=0.5)
    shares = [found["rest"] / found["net_work"]]
    finer = book("lateral_undulation", engine, 2.0, physics_step=1.25e-4)
    shares.append(finer["rest"] / finer["net_work"])
    if engine == "dart":  # a quarter of the step, on two chaotic motions
        assert shares[0] / shares[1] == pytest.approx(4.0, rel=0.25)
    else:
        assert max(abs(share) for share in shares) < 1e-3


def test_a_run_that_cannot_be_repeated_says_so():
    """Its stops are in the rest then; another's motion is not taken for this one's."""
    setup = setup_of("snake", "lateral_undulation", "duration=0.3")
    run = run_in(setup, duration=0.3)
    whole = energy_of(setup, "reference", run)
    rates = np.array(run.qd)
    rates[100, 3] += 1e-12
    found = energy_of(setup, "reference", replace(run, qd=rates))
    assert "could not be repeated" in found.reason and found.how["stops"] == "not measured"
    assert whole.stops[-1] > 1.0 and found.stops[-1] == 0.0
    both = whole.stops[-1] + whole.rest[-1]
    assert found.rest[-1] == pytest.approx(both, rel=1e-9)
