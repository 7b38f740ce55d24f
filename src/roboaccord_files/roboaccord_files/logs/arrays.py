"""Logs as arrays: NPZ, and MAT and Parquet, which libraries read in a process of its own.

A format may be added: a function that returns its arrays by name as `_mat` does, in READERS. What
such a file holds is a stranger's: SECONDS and MEMORY bound it, and only JSON comes back.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import LARGEST, check_file, read_bytes
from roboaccord.description.apart import apart

from roboaccord_files.logs.table import Columns

SECONDS, MEMORY = 20, 4 << 30  # of processor time [s], and address space [bytes]


def read_arrays(path: Path) -> Columns:
    """Return the columns of a file: of two dimensions by joints, where `joints` names them.

    The longest arrays are columns, also of rows, as MATLAB has them.

    Raises:
        Exception: whatever NumPy raises for a file that is none.
    """
    if path.suffix.lower() == ".npz":
        arrays = _npz(read_bytes(path))
    else:
        packed = apart(unpack, str(check_file(path)), seconds=SECONDS, memory=MEMORY)
        arrays = {name: np.array(values) for name, values in packed.items()}
    joints = [str(each) for each in np.atleast_1d(arrays.get("joints", ()))]
    numbers = {n: v for n, v in arrays.items() if v.dtype.kind in "fiu" and v.ndim in (1, 2)}
    length, arrays_of = max((max(v.shape) for v in numbers.values()), default=0), {}
    for name, values in numbers.items():
        columns = np.atleast_2d(values.T if len(values) == length else values)
        for i, column in enumerate(columns):
            more = joints[i] if len(joints) == len(columns) else f"[{i}]"
            arrays_of[name if len(columns) == 1 else f"{name}/{more}"] = column
    signed = {n: v.astype(float if v.dtype.kind == "f" else np.int64) for n, v in arrays_of.items()}
    return {name: values for name, values in signed.items() if len(values) == length}


def _npz(packed: bytes) -> Columns:
    with np.load(io.BytesIO(packed)) as data:
        if sum(each.file_size for each in data.zip.infolist()) > LARGEST:
            raise ValueError(f"it unpacks to more than {LARGEST // 1_000_000} MB")
        return {name: data[name] for name in data.files}


def unpack(path: str) -> dict[str, Any]:
    """Return the arrays of numbers and words in a file, as JSON takes them.

    Raises:
        AccordError: if it cannot be read.
    """
    try:
        arrays = READERS[Path(path).suffix.lower()](path)
    except ImportError as error:
        raise AccordError(f"it needs {error.name}: pip install {error.name}") from None
    except Exception as error:  # noqa: BLE001 - libraries raise whatever they do
        raise AccordError((str(error).splitlines() or [type(error).__name__])[0]) from None
    times = {n: v.astype("M8[ns]").astype(int) for n, v in arrays.items() if v.dtype.kind == "M"}
    kept = {n: v for n, v in arrays.items() if v.dtype.kind in "fiuU" and v.ndim < 3} | times
    return {name: values.tolist() for name, values in kept.items()}


def _mat(path: str) -> Columns:
    from scipy.io import loadmat

    try:
        return dict(_flat("", loadmat(path, simplify_cells=True)))
    except NotImplementedError:
        raise ValueError("a MAT file of version 7.3: save it with -v7") from None


def _flat(above: str, data: Mapping[str, Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the arrays of structures in each other, as `log/q`."""
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _flat(f"{above}{name}/", value)
        elif not name.startswith("__"):
            array = np.asarray(value)
            yield above + name, array.astype(str) if array.dtype.kind == "O" else array


def _parquet(path: str) -> Columns:
    from pyarrow import parquet

    table = parquet.read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


READERS = {".mat": _mat, ".parquet": _parquet}
