"""Logs as arrays: NPZ, and MAT and Parquet, which libraries read in a process of its own.

A format may be added: a function that returns its arrays by name as `_mat` does, in READERS. What
such a file holds is a stranger's: SECONDS and MEMORY bound it, and only numbers come back.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import LARGEST, check_file, read_bytes
from roboaccord.description.apart import apart

from roboaccord_files.logs.table import Table

SECONDS, MEMORY = 20, 4 << 30  # of processor time [s], and address space [bytes]
Arrays = Mapping[str, NDArray[Any]]


def read_arrays(path: Path) -> Table:
    """Return the columns of a file of arrays.

    Raises:
        Exception: whatever NumPy raises for a file that is none.
    """
    if path.suffix.lower() == ".npz":
        return Table.of(_columns(_npz(read_bytes(path))))
    packed = apart(unpack, str(check_file(path)), seconds=SECONDS, memory=MEMORY)
    return Table.of(_columns({
        name: np.frombuffer(base64.b64decode(text), kind).reshape(shape) if kind else np.array(text)
        for name, (kind, shape, text) in packed.items()
    }))  # fmt: skip


def _npz(packed: bytes) -> Arrays:
    with np.load(io.BytesIO(packed)) as data:
        if sum(each.file_size for each in data.zip.infolist()) > LARGEST:
            raise ValueError(f"it unpacks to more than {LARGEST // 1_000_000} MB")
        return {name: data[name] for name in data.files}


def unpack(path: str) -> dict[str, Any]:
    """Return type, shape and bytes of each array of a file, of text the words; as JSON takes them.

    Raises:
        AccordError: if it cannot be read.
    """
    try:
        arrays = READERS[Path(path).suffix.lower()](path)
    except ImportError as error:
        raise AccordError(f"it needs {error.name}: pip install {error.name}") from None
    except Exception as error:  # noqa: BLE001 - libraries raise whatever they do
        raise AccordError((str(error).splitlines() or [type(error).__name__])[0]) from None
    found = {}
    for name, each in arrays.items():
        if each.dtype.kind in "fiu":
            data = base64.b64encode(np.ascontiguousarray(each).tobytes()).decode()
            found[name] = each.dtype.str, each.shape, data
        elif each.dtype.kind in "UO" and all(isinstance(word, str) for word in each.ravel()):
            found[name] = "", (), [str(word) for word in each.ravel()]
    return found


def _mat(path: str) -> Arrays:
    from scipy.io import loadmat

    try:
        data = loadmat(path, simplify_cells=True)
    except NotImplementedError:
        raise ValueError("a MAT file of version 7.3: save it with -v7") from None
    return dict(_flat("", data))


def _flat(above: str, data: Mapping[str, Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the arrays of structures in each other, as `log/q`."""
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _flat(f"{above}{name}/", value)
        elif not name.startswith("__"):
            yield above + name, np.asarray(value)


def _parquet(path: str) -> Arrays:
    from pyarrow import parquet, types

    file = parquet.ParquetFile(path)
    fields = [each for each in file.schema_arrow if _holds_numbers(types, each.type)]
    if 8 * file.metadata.num_rows * len(fields) > LARGEST:
        raise ValueError(f"it unpacks to more than {LARGEST // 1_000_000} MB")
    table = file.read(columns=[each.name for each in fields])
    found = {name: table[name].to_numpy() for name in table.column_names}
    for name, values in found.items():
        if values.dtype.kind == "M":
            found[name] = values.astype("M8[ns]").astype(np.int64)
    return found


def _holds_numbers(types: Any, kind: Any) -> bool:
    return any(is_(kind) for is_ in (types.is_floating, types.is_integer, types.is_timestamp))


READERS = {".mat": _mat, ".parquet": _parquet}


def _columns(arrays: Arrays) -> Arrays:
    """Return the columns of arrays: of two dimensions by joints, where `joints` names them.

    The longest arrays are columns, also of rows, as MATLAB has them.
    """
    joints = [str(each) for each in np.atleast_1d(arrays.get("joints", ()))]
    numbers = {n: v for n, v in arrays.items() if v.dtype.kind in "fiu" and v.ndim in (1, 2)}
    length = max((max(values.shape) for values in numbers.values()), default=0)
    found = {}
    for name, values in numbers.items():
        if values.ndim == 1:
            found[name] = values
            continue
        columns = values.T if len(values) == length else values
        for i, column in enumerate(columns):
            more = joints[i] if len(joints) == len(columns) else f"[{i}]"
            found[name if len(columns) == 1 else f"{name}/{more}"] = column
    return {name: column for name, column in found.items() if len(column) == length}
