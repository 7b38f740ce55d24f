"""What a reader of logs gives: columns of numbers by name, whose times keep all their digits.

A reader may be added (tables.py lists them); it ends in `Table.of`, or gives origins itself where
it has text. FAR may be tuned: from there on a float of seconds rounds to more than 1e-12 s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.state import Array

FAR = 1e4  # of a first number, from which on a column is stored as differences to it
SECONDS, NANOSECONDS = r"(.*?)secs?", ("nanosec", "nanosecs", "nsec", "nsecs")


@dataclass(frozen=True)
class Table:
    """Columns of a log; a row may lack some of them.

    Args:
        columns: (k,) each, NaN where a row has no number; one that begins far from 0 is stored
            less its first number, subtracted before it became a float.
        origins: first numbers of those.
        floats: columns whose numbers far from 0 had been rounded to floats before.
        notes: on what was read.
        published: whether rows are joint states, where zeros may stand for efforts nobody measured.
        more: names that may be asked for beside the columns.
    """

    columns: Mapping[str, Array]
    origins: Mapping[str, float] = field(default_factory=dict)
    floats: frozenset[str] = frozenset()
    notes: Sequence[str] = ()
    published: bool = False
    more: Sequence[str] = ()

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], **more: Any) -> Table:
        """Return the table of arrays (k,) of integers or floats."""
        columns, origins = {}, {}
        for name, values in arrays.items():
            whole = values.astype(np.int64) if values.dtype.kind in "iu" else values
            first = next((each for each in whole if np.isfinite(each)), 0)
            if far := abs(first) >= FAR:
                origins[name] = float(first)
            columns[name] = (whole - first if far else whole).astype(float)
        floats = frozenset(name for name in origins if arrays[name].dtype.kind == "f")
        return cls(columns, origins, floats, **more)

    def values(self, name: str) -> Array:
        """Return a column as it was written (k,)."""
        return self.columns[name] + self.origins.get(name, 0.0)

    def with_whole_stamps(self) -> Table:
        """Return a table in which columns `sec` and `nanosec` are one, called as the first."""
        columns, origins = dict(self.columns), dict(self.origins)
        for name in self.columns:
            match = re.fullmatch(SECONDS, name)
            for other in (f"{match[1]}{end}" for end in NANOSECONDS) if match else ():
                if other in columns:
                    columns[name] = columns[name] + 1e-9 * self.values(other)
                    del columns[other]
                    origins.pop(other, None)
        return replace(self, columns=columns, origins=origins)
