"""Compare series of an engine with the exact one: python check.py EXACT.csv MINE.csv...

Each file has a line of headings, then rows: the time [s], then values. Name three files or more,
of physics steps each half the one before, the largest first. Prints the error of each, and whether
they vanish with the step; the status is 0 if they do (or are below TOLERANCE), else 1.

This file needs numpy alone. It is in the public domain: CC0 1.0,
https://creativecommons.org/publicdomain/zero/1.0/.
"""

import sys
from collections.abc import Sequence
from math import log2

import numpy as np

Series = tuple[np.ndarray, np.ndarray]  # times (n,) and values (n, m)
# Of the largest exact value, or of 1 where that is 0. By choice: the third digit.
TOLERANCE = 1e-3
# Ratio of successive changes of the error above which there is no order: an order of 6 (2^6), above
# that of any scheme in use, which is 4.
JUMP = 64.0
# Ratio of successive changes of the error above which nothing converges: an order of 0.23. By
# choice: an error of order 0.5, the least that has a power law, has 0.71, and may scatter by 20 %.
SHRINKS = 0.85


def read(path: str) -> Series:
    """Return times (n,) and values (n, m) of a file."""
    rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return rows[:, 0], rows[:, 1:]


def differences(exact: Series, mine: Series) -> np.ndarray:
    """Return mine less exact at the times of the exact series that both have (k, m), relative."""
    (exact_times, exact_values), (times, values) = exact, mine
    inside = (exact_times >= times[0]) & (exact_times <= times[-1])
    columns = [np.interp(exact_times[inside], times, column) for column in values.T]
    gaps = np.transpose(columns) - exact_values[inside]
    return np.asarray(gaps / (np.abs(exact_values).max() or 1.0))


def limit(errors: Sequence[float]) -> tuple[float | None, float | None]:
    """Return what is left of errors at step 0, and their order.

    The first is None where halving the step does not shrink the differences; the second, too, where
    they are too small to show an order.
    """
    first, second = np.diff(errors)[-2:].tolist()
    settled = abs(second) < abs(first) / JUMP  # the first step was too large to show an order
    if abs(second) < TOLERANCE and (settled or abs(first) < TOLERANCE):
        return errors[-1], None
    if not first or not 0.0 < second / first < SHRINKS:
        return None, None
    order = log2(first / second)
    return errors[-1] + second / (2.0**order - 1.0), order


def main(paths: list[str]) -> int:
    """Print the comparison, and return the status."""
    if len(paths) < 4:
        print(__doc__)
        return 2
    exact = read(paths[0])
    gaps = [differences(exact, read(path)) for path in paths[1:]]
    row, column = np.unravel_index(np.abs(gaps[-1]).argmax(), gaps[-1].shape)
    for path, gap in zip(paths[1:], gaps, strict=True):
        print(f"{path}: largest error {100.0 * np.abs(gap).max():.3g} %")
    left, order = limit([float(gap[row, column]) for gap in gaps])
    if left is None:
        print("no limit: halving the step does not shrink the difference")
        return 1
    good = abs(left) <= TOLERANCE
    name = "right within the tolerance" if order is None else f"order {order:.2f}"
    print(name if good else f"constant: {100.0 * left:+.3g} % is left at step 0")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
