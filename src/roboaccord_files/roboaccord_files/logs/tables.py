"""Read the table of a log by the reader for its file: text, arrays, or a bag.

The ending of the file decides. A format is added as a reader beside `read_text` or in arrays.py; it
may raise any exception, which becomes a message here. Its ending goes into TABLES of
roboaccord.door.checks, by which logs are recognised. A reader must bound its time and memory:
test_readers.py gives each one hostile files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import numpy as np
from roboaccord.contract import AccordError, read_bytes
from roboaccord.door.checks import is_table

from roboaccord_files.logs.arrays import read_arrays
from roboaccord_files.logs.table import Columns, Table
from roboaccord_files.logs.text import read_text

ARRAYS = (".npz", ".mat", ".parquet")  # endings of files that arrays.py reads


def read_table(
    path: Path, joints: Sequence[str], topic: str = "", asked: Collection[str] = ()
) -> Table:
    """Return the table of a log; the arguments are those of `read_bag`.

    Raises:
        AccordError: if the log cannot be read.
    """
    if not is_table(path):
        from roboaccord_files.logs.bags import read_bag  # imported here: tables need no bag library

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
    """Return columns in which pairs such as `sec` and `nanosec` are one column `stamp [ns]`."""
    joined = dict(columns)
    for name in columns:
        in_seconds = re.sub(r"(nano|n)(secs?)$", r"\2", name)
        if in_seconds in columns and in_seconds != name:
            seconds, nanoseconds = joined[in_seconds].astype(float), joined[name].astype(float)
            if (np.abs(seconds) < 1e10).all() and (np.abs(nanoseconds) < 1e10).all():
                stamp = 1_000_000_000 * seconds.astype(np.int64) + nanoseconds.astype(np.int64)
                joined[f"{in_seconds.rpartition('sec')[0]}stamp [ns]"] = stamp
                del joined[in_seconds], joined[name]
    return joined
