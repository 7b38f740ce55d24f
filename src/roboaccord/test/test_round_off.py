"""No name, no verdict and no order of causes hangs on the last bits of a sum.

They differ from processor to processor: OpenBLAS has other kernels, which add in another order.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord.contract.state import Array
from roboaccord.crosscheck.parity.causes import _name_link
from roboaccord.crosscheck.scheme import SchemeCheck, check_scheme
from roboaccord.engines.model import LinkProperties
from roboaccord.numerics.ranking import descending, first_largest, ranked
from roboaccord.numerics.rotations import rpy_matrix
from test_naming import planted, run_of, setup_of
from test_own_log import PENDULUM, judged, pendulum

LAST = 1e-15  # relative: a few units in the last place
KERNELS = {"Prescott": "pni", "Nehalem": "sse4_2", "Haswell": "avx2", "SkylakeX": "avx512f"}
LOGS = {
    "effort reversed": (0.02, [1.0, 1.0, -1.0]),
    "inertia": (0.03, [1.0, 1.0, 1.0]),
    "clock": (0.02, [1.02, 1.0, 1.0]),
}
ERRORS = ("inertia", "sign of an effort", "mass")  # of a hinge, the first two are not unique


def shaken(values: Array, seed: int) -> Array:
    """Return values whose last bits are others; as they are for seed 0."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=values.shape)
    return values * (1.0 + LAST * signs * (seed > 0))


def of_log(name: str, seed: int = 0) -> list[object]:
    """Return what is said of a pendulum's log with an error."""
    inertia, scale = LOGS[name]
    log = pendulum(inertia=inertia)[:200] * scale
    log[:, 1:] = shaken(log[:, 1:], seed)
    found = judged(log)
    return [found.verdict, *([*map(str, each)] for each in (found.causes, *found.instead))]


def of_engine(name: str, path: Path, seeds: int) -> Iterator[list[str]]:
    """Yield what is said of an engine with an error in the pendulum, by seed."""
    path.write_text(PENDULUM)
    setup = setup_of(str(path))
    engine, _ = planted(setup, name, "dart")
    run = run_of(setup, engine)
    for seed in range(seeds):
        columns = {each: shaken(getattr(run, each), seed) for each in ("q", "qd", "effort")}
        found = check_scheme(setup, engine, replace(run, **columns))
        assert isinstance(found, SchemeCheck)
        yield [found.name.quantity, found.name.where, found.name.text]


@pytest.mark.parametrize("name", LOGS)
def test_what_is_said_of_a_log_does_not_hang_on_its_last_bits(name: str) -> None:
    said = of_log(name)
    assert all(of_log(name, seed) == said for seed in (1, 2))


def test_signs_that_explain_a_log_alike_are_all_listed_in_the_order_of_hypotheses() -> None:
    """A pendulum does not distinguish its effort's sign from that of its angle."""
    alike = [["effort of hinge reversed"], ["state of hinge reversed"]]
    assert of_log("effort reversed") == ["fail", *alike]


@pytest.mark.parametrize(
    "name", [ERRORS[0], *(pytest.param(name, marks=pytest.mark.slow) for name in ERRORS[1:])]
)
def test_names_of_an_engines_error_do_not_hang_on_the_last_bits(name: str, tmp_path: Path) -> None:
    first, *others = of_engine(name, tmp_path / "pendulum.urdf", 3)
    assert all(each == first for each in others)


@pytest.mark.slow
def test_all_kernels_of_openblas_give_the_same_names(tmp_path: Path) -> None:
    """Each processor has its own; the older ones run on a newer one, too."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    lines = "import pathlib, sys, test_round_off as t; print(*map(t.of_log, t.LOGS), *(x for e in "
    lines += "t.ERRORS for x in t.of_engine(e, pathlib.Path(sys.argv[1]), 1)), sep='\\n')"
    said = dict[str, str]()
    for kernel in (name for name, flag in KERNELS.items() if flag in flags):
        environment = {"OPENBLAS_CORETYPE": kernel, "PYTHONPATH": str(Path(__file__).parent)}
        said[kernel] = subprocess.run(
            [sys.executable, "-c", lines, tmp_path / "pendulum.urdf"], check=True, text=True,
            stdout=subprocess.PIPE, env={**os.environ, **environment},
        ).stdout  # fmt: skip
    if len(said) < 2:
        pytest.skip("the processor has one kind of kernels")
    assert len(set(said.values())) == 1, said
    assert "reversed" in said["Nehalem"] and "armature" in said["Nehalem"]


def test_a_turned_inertial_is_measured_whatever_the_axes_of_equal_moments() -> None:
    """A rod's axes are turned by five degrees; across it any two axes are as good as others."""
    axes, turn = rpy_matrix(0.3, 0.2, 0.1), rpy_matrix(np.radians(5.0), 0.0, 0.0)
    rod = np.diag([0.1, 0.1, 0.02])
    for seed in range(20):
        want, have = (
            LinkProperties(1.0, np.zeros(3), a @ np.diag(shaken(np.diag(rod), seed)) @ a.T)
            for a in (axes, axes @ turn)
        )
        assert "5 degrees off" in _name_link("rod", want, have, {"inertia": ""}).text


@settings(deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8), st.integers(1, 100))
def test_round_off_never_changes_an_order(sizes: list[int], seed: int) -> None:
    """Of whole numbers, with many that are alike: the order is that of Python's stable sort."""
    values = shaken(np.array(sizes, float), seed)
    items = range(len(sizes))
    assert ranked(items, values.tolist().__getitem__) == sorted(items, key=sizes.__getitem__)
    assert descending(values) == sorted(items, key=lambda i: -sizes[i])
    assert first_largest(values) == sizes.index(max(sizes))


def test_what_is_infinite_or_no_number_is_ranked_like_numpy_does() -> None:
    infinite = np.array([1.0, np.inf, 2.0, -np.inf, np.inf])
    assert descending(infinite) == [1, 4, 2, 0, 3]
    assert first_largest(infinite) == 1
    assert first_largest(np.array([1.0, np.nan, np.inf])) == 1
    assert ranked([3.0, 1.2, 1.0, 2.0], abs, apart=0.5) == [1.2, 1.0, 2.0, 3.0]
