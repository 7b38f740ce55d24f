"""Logs by their endings: text, arrays, or a bag.

A format may be added: a reader beside `read_text` (from bytes) or in arrays.py, which raises what
it likes; its ending goes into TABLES of roboaccord.door.checks, by which a log is known. Whatever
is read must be bounded: test_readers.py gives each reader hostile files.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import read_bytes
from roboaccord.door.checks import is_table

from roboaccord_files.logs.table import Table

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
        if path.suffix.lower() in ARRAYS:
            from roboaccord_files.logs.arrays import read_arrays

            return read_arrays(path).with_whole_stamps()
        from roboaccord_files.logs.text import read_text

        return read_text(read_bytes(path)).with_whole_stamps()
    except Exception as error:  # NumPy raises whatever its readers do
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        if isinstance(error, AccordError) and str(path) in reason:
            raise
        raise AccordError(f"{path}: cannot be read: {reason}") from None
