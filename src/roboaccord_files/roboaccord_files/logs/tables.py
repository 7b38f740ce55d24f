"""Logs by their endings: text, arrays, or a bag.

A format may be added: a reader beside `read_text` (from bytes) or in arrays.py, which raises what
it likes; its ending goes into TABLES of roboaccord.door.checks, by which a log is known. Whatever
is read must be bounded: test_readers.py gives each reader hostile files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import read_bytes
from roboaccord.door.checks import is_table

from roboaccord_files.logs.arrays import read_arrays
from roboaccord_files.logs.table import Columns, Table
from roboaccord_files.logs.text import read_text

ARRAYS = (".npz", ".mat", ".parquet")


def read_table(
    path: Path, joints: Sequence[str], topic: str = "", asked: Collection[str] = ()
) -> Table:
    """Return the columns of a log; arguments are those of `read_bag`.

    Raises:
        AccordError: if it cannot be read.
    """
    if not is_table(path):
        from roboaccord_files.logs.bags import read_bag  # a table needs no library of bags

        return read_bag(path, joints, topic, asked)
    if topic:
        raise AccordError(f"--topic {topic}: {path} is no bag, and has no topics")
    try:
        arrays = path.suffix.lower() in ARRAYS
        table = Table(read_arrays(path)) if arrays else read_text(read_bytes(path))
    except Exception as error:  # noqa: BLE001 - NumPy raises whatever its readers do
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise AccordError(f"{path}: cannot be read: {reason}") from None
    return table._replace(columns=_with_stamps(table.columns))


def _with_stamps(columns: Columns) -> Columns:
    """Return columns with those of seconds and nanoseconds together, as `stamp [ns]`."""
    joined = dict(columns)
    for name in columns:
        whole = re.sub(r"(nano|n)(secs?)$", r"\2", name)
        if whole in columns and whole != name:
            seconds, rest = joined[whole].astype(float), joined[name].astype(float)
            if (np.abs(seconds) < 1e10).all() and (np.abs(rest) < 1e10).all():
                both = 1_000_000_000 * seconds.astype(np.int64) + rest.astype(np.int64)
                joined[f"{whole.rpartition('sec')[0]}stamp [ns]"] = both
                del joined[whole], joined[name]
    return joined
