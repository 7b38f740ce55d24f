"""Read logs that are files of arrays: NPZ, MAT and Parquet.

NumPy reads NPZ. MAT and Parquet are read by SciPy and PyArrow in a separate process, whose time and
memory are bounded and which returns JSON only: such a file may come from anyone, and be made to
harm. A format is added as a function like `_mat`, in READERS.
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
from roboaccord.description.isolated import run_isolated

from roboaccord_files.logs.table import Columns

# Bounds of the process that reads MAT and Parquet: those of other converters of foreign files, 20 s
# (docs/security.md), and 80 times a file of 50 MB, since lists of numbers take 32 bytes each.
SECONDS, MEMORY = 20, 4 << 30  # processor time [s], address space [bytes]


def read_arrays(path: Path) -> Columns:
    """Return the columns of a file, each as long as the file's longest array.

    An array of two dimensions, by rows or by columns as MATLAB may have it, becomes several columns
    `NAME/JOINT`, with the names in the array `joints` if there is one, else `NAME/[0]` and so on.

    Raises:
        Exception: whatever NumPy raises for a file that it cannot read.
    """
    if path.suffix.lower() == ".npz":
        arrays = _npz(read_bytes(path))
    else:
        packed = run_isolated(unpack, str(check_file(path)), seconds=SECONDS, memory=MEMORY)
        arrays = {name: np.array(values) for name, values in packed.items()}
    joints = [str(name) for name in np.atleast_1d(arrays.get("joints", ()))]
    numeric = {name: array for name, array in arrays.items()
               if array.dtype.kind in "fiu" and array.ndim in (1, 2)}  # fmt: skip
    length = max((max(array.shape) for array in numeric.values()), default=0)
    by_name = dict[str, NDArray[Any]]()
    for name, values in numeric.items():
        # Unsigned integers become signed, since times are subtracted.
        signed = values.astype(float if values.dtype.kind == "f" else np.int64)
        # Arrays of two dimensions are split into columns.
        columns = np.atleast_2d(signed.T if len(signed) == length else signed)
        for i, column in enumerate(columns):
            suffix = joints[i] if len(joints) == len(columns) else f"[{i}]"
            by_name[name if len(columns) == 1 else f"{name}/{suffix}"] = column
    return {name: values for name, values in by_name.items() if len(values) == length}


def _npz(packed: bytes) -> Columns:
    """Return the arrays of an NPZ file; raise ValueError if it unpacks to more than LARGEST."""
    with np.load(io.BytesIO(packed)) as data:
        if sum(member.file_size for member in data.zip.infolist()) > LARGEST:
            raise ValueError(f"it unpacks to more than {LARGEST // 1_000_000} MB")
        return {name: data[name] for name in data.files}


def unpack(path: str) -> dict[str, Any]:
    """Return the arrays of numbers and text in a file as lists, for JSON; dates as nanoseconds.

    Raises:
        AccordError: if the file cannot be read.
    """
    try:
        arrays = READERS[Path(path).suffix.lower()](path)
    except ImportError as error:
        raise AccordError(f"it needs {error.name}: pip install {error.name}") from None
    except Exception as error:  # noqa: BLE001 - libraries raise whatever they do
        raise AccordError((str(error).splitlines() or [type(error).__name__])[0]) from None
    kept = {name: array for name, array in arrays.items()
            if array.dtype.kind in "fiuU" and array.ndim < 3}  # fmt: skip
    for name, array in arrays.items():
        if array.dtype.kind == "M":
            kept[name] = array.astype("M8[ns]").astype(int)
    return {name: values.tolist() for name, values in kept.items()}


def _mat(path: str) -> Columns:
    """Return the arrays of a MAT file, before version 7.3."""
    from scipy.io import loadmat

    try:
        return dict(_flat("", loadmat(path, simplify_cells=True)))
    except NotImplementedError:
        raise ValueError("a MAT file of version 7.3: save it with -v7") from None


def _flat(prefix: str, data: Mapping[str, Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield the arrays of nested structures with the names of all levels, such as `log/q`."""
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}/", value)
        elif not name.startswith("__"):  # as SciPy names the file's header
            array = np.asarray(value)
            yield prefix + name, array.astype(str) if array.dtype.kind == "O" else array


def _parquet(path: str) -> Columns:
    """Return the columns of a Parquet file."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


READERS = {".mat": _mat, ".parquet": _parquet}
