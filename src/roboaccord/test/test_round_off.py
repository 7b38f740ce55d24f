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
from roboaccord.crosscheck.levels.scheme import SchemeCheck, check_scheme
from roboaccord.numerics.ranking import descending, first_largest, ranked
from roboaccord.report.cause_words import text_of
from slow_cases import late
from test_naming import planted, run_of, setup_of

LAST = 1e-15  # relative: a few units in the last place
KERNELS = {"Prescott": "pni", "Nehalem": "sse4_2", "Haswell": "avx2", "SkylakeX": "avx512f"}
PENDULUM = """<robot name="pendulum"><link name="base_link"/><link name="bob"><inertial>
<origin xyz="0 0 -.1"/><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0"
izz=".01"/></inertial></link><joint name="hinge" type="continuous"><parent link="base_link"/>
<child link="bob"/><axis xyz="0 1 0"/><dynamics damping=".1"/></joint></robot>"""
ERRORS = ("inertia", "sign of an effort", "mass")  # of a hinge, the first two are not unique


def shaken(values: Array, seed: int) -> Array:
    """Return values whose last bits are others; as they are for seed 0."""
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=values.shape)
    return values * (1.0 + LAST * signs * (seed > 0))


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
        yield [found.explanation.cause.quantity, text_of(found.explanation)]


@pytest.mark.parametrize("name", [ERRORS[0], *late(*ERRORS[1:])])
def test_names_of_an_engines_error_do_not_hang_on_the_last_bits(name: str, tmp_path: Path) -> None:
    first, *others = of_engine(name, tmp_path / "pendulum.urdf", 3)
    assert all(each == first for each in others)


def said_by_kernels(module: str, code: str, *words: str | Path) -> dict[str, str]:
    """Return what a module of tests, as `t`, says with each kind of kernels that runs here."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    lines = f"import pathlib, sys, {module} as t; print(*{code}, sep='\\n')"
    paths = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    said = {
        kernel: subprocess.run(
            [sys.executable, "-c", lines, *words], check=True, text=True, stdout=subprocess.PIPE,
            env={**os.environ, "OPENBLAS_CORETYPE": kernel, "PYTHONPATH": paths},
        ).stdout
        for kernel, flag in KERNELS.items() if flag in flags
    }  # fmt: skip
    if len(said) < 2:
        pytest.skip("the processor has one kind of kernels")
    return said


@pytest.mark.slow
def test_all_kernels_of_openblas_give_the_same_names(tmp_path: Path) -> None:
    """Each processor has its own; the older ones run on a newer one, too."""
    code = "(x for e in t.ERRORS for x in t.of_engine(e, pathlib.Path(sys.argv[1]), 1))"
    said = said_by_kernels("test_round_off", code, tmp_path / "pendulum.urdf")
    assert len(set(said.values())) == 1, said
    assert "armature" in said["Nehalem"]


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
    assert descending(infinite) == [1, 4, 2, 0, 3] and first_largest(infinite) == 1
    assert first_largest(np.array([1.0, np.nan, np.inf])) == 1
    assert ranked([3.0, 1.2, 1.0, 2.0], abs, slack=0.5) == [1.2, 1.0, 2.0, 3.0]
