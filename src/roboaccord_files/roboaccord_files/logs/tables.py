"""Tables of a log, as columns by name: CSV, NPZ or a bag.

A format may be added: a reader beside `_text` and `_arrays`, which takes bytes and raises what it
likes; its ending goes into TABLES of roboaccord.door.checks, by which a log is known. Whatever is
read must be bounded: test_readers.py gives each reader hostile files.
"""

from __future__ import annotations

import csv
import io
from array import array
from pathlib import Path

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import LARGEST, read_bytes
from roboaccord.contract.state import Array
from roboaccord.door.checks import is_table


def read_table(path: Path) -> dict[str, Array]:
    """Return the columns of a file by name.

    Raises:
        AccordError: if it cannot be read.
    """
    read = _arrays if path.suffix.lower() == ".npz" else _text
    if is_table(path):
        data = read_bytes(path)
        try:
            return read(data)
        except Exception as error:  # noqa: BLE001 - NumPy raises whatever its readers do
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise AccordError(f"{path}: cannot be read: {reason}") from None
    from roboaccord.bag.reader import read_run  # a table needs no library of bags

    run = read_run(path).trajectory
    found = {"time": run.time}
    for kind in ("q", "qd", "effort"):
        columns = getattr(run, kind).T
        found |= {f"{kind}/{j}": c for j, c in zip(run.joints, columns) if c.any()}
    return found


def _text(data: bytes) -> dict[str, Array]:
    text = data.decode("utf-8-sig").lstrip("# ")
    first, lines = text.partition("\n")[0], io.StringIO(text, None)
    delimiter = max(",;\t", key=first.count)
    cut = csv.reader(lines, delimiter=delimiter) if delimiter in first else map(str.split, lines)
    rows, values = filter(None, cut), array("d")
    head = [name.strip() for name in next(rows, [])]
    for number, row in enumerate(rows, 2):
        if len(row) != len(head):
            raise ValueError(f"row {number} has {len(row)} columns, the header {len(head)}")
        values.extend(float(x) if x.strip() else np.nan for x in row)
    if not values:
        raise ValueError("no rows below the header")
    return dict(zip(head, np.array(values).reshape(-1, len(head)).T))


def _arrays(packed: bytes) -> dict[str, Array]:
    """Return the columns of arrays: of two dimensions by joints, where `joints` names them."""
    with np.load(io.BytesIO(packed)) as data:
        if sum(each.file_size for each in data.zip.infolist()) > LARGEST:
            raise ValueError(f"it unpacks to more than {LARGEST // 1_000_000} MB")
        arrays = {name: data[name] for name in data.files}
    joints = [str(each) for each in np.atleast_1d(arrays.get("joints", ()))]
    found = {}
    for name, values in arrays.items():
        if values.dtype.kind not in "fiu" or values.ndim not in (1, 2):
            continue
        columns = values.T if values.ndim == 2 else [values]
        for i, column in enumerate(columns):
            more = joints[i] if len(joints) == len(columns) else f"[{i}]"
            found[name if values.ndim == 1 else f"{name}/{more}"] = column.astype(float)
    length = max(map(len, found.values()), default=0)
    return {name: column for name, column in found.items() if len(column) == length}
