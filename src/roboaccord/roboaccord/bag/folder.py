"""The folder of a bag: its files, its metadata.yaml, warnings about them, and folders of runs.

A bag is a folder with one or more storage files and metadata.yaml, or a single storage file. Plain
MCAP files are read here; `ros2 bag record` also writes sqlite3 (.db3) and compresses whole files by
zstd (.zstd), which other packages read, found by entry points `roboaccord.storages`; single
compressed messages are unpacked here. `doubts` yields warnings about bags that can be read.
`find_bag`, which every reader calls, and `last_runs` find bags in run folders. Keys and suffixes
are those of rosbag2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from zstandard import ZstdError

from roboaccord.bag.metadata import custom_data, read_metadata
from roboaccord.bag.records import McapScan
from roboaccord.bag.topics import LOST_EVENTS
from roboaccord.bag.unpacking import unzstd
from roboaccord.contract import AccordError, is_file, plugins

PACKED = ".zstd"  # further suffix of a file that is compressed as a whole
SUFFIXES = (".mcap", ".db3")
RUNS = Path("runs")  # folder in which commands make run folders
# First bytes of a zstd frame [RFC 8878]; a plain CDR message begins with 0.
_MAGIC = b"\x28\xb5\x2f\xfd"


def is_storage(path: Path) -> bool:
    """Return whether a file's name is that of a storage file of rosbag2."""
    return Path(path.name.removesuffix(PACKED)).suffix in SUFFIXES


def scan_of(path: Path) -> McapScan:
    """Return the reader of a storage file, by the file's name.

    Raises:
        AccordError: if the package for other storages than plain MCAP is not installed.
    """
    is_sqlite = path.name.removesuffix(PACKED).endswith(".db3")
    if not is_sqlite and path.suffix != PACKED:
        return McapScan(path)
    entry = "db3" if is_sqlite else "packed"
    scan: McapScan = plugins.load("storages", entry, f"what reads {path.name}")(path)
    return scan


def unpacked(data: bytes, scan: McapScan) -> bytes:
    """Return the bytes of a message, decompressed if it is compressed by itself.

    Raises:
        AccordError: if it cannot be decompressed, or becomes far too large.
    """
    if not data.startswith(_MAGIC):
        return data
    try:
        content = unzstd(data, scan.room + 1)
    except ZstdError as error:
        raise AccordError(f"a message cannot be decompressed: {error}") from None
    scan.spend(len(content))
    return content


def bag_files(bag: Path) -> list[Path]:
    """Return the storage files of a bag: a folder, or one file.

    Raises:
        AccordError: if there is none, or one that metadata.yaml lists is missing.
    """
    bag = Path(bag)
    if is_file(bag):
        return [bag]
    if not bag.is_dir():
        raise AccordError(f"{bag} is not a bag: it does not exist")
    names = read_metadata(bag).get("relative_file_paths")
    listed = [bag / Path(str(name)).name for name in names] if isinstance(names, list) else []
    files = [path for path in listed if path.is_file()]
    if 0 < len(files) < len(listed):
        missing = next(path.name for path in listed if path not in files)
        raise AccordError(f"{bag} is damaged: {missing} of its metadata.yaml is missing")
    if not files:
        files = sorted((path for path in bag.iterdir() if is_storage(path)), key=_natural_order)
    for path in files:
        if not is_storage(path):
            raise AccordError(f"{bag} is not a bag: {path.name} is neither of MCAP nor of sqlite3")
    if not files:
        raise AccordError(f"{bag} is not a bag: it holds no MCAP file and no .db3")
    return files


def _natural_order(path: Path) -> list[tuple[int, str]]:
    """Return a key that sorts file names by the numbers in them: bag_2 before bag_10."""
    return [(int(word) if word.isdigit() else -1, word) for word in re.split(r"(\d+)", path.name)]


def doubts(bag: Path, scans: Sequence[McapScan]) -> Iterator[str]:
    """Yield warnings about a bag whose messages can be read."""
    for scan in scans:
        yield from _doubts_of_file(scan)
    if bag.is_dir() and (line := doubt_of_metadata(bag, scans)):
        yield line
    if lost := custom_data(scans[0].rosbag2_metadata).get(LOST_EVENTS):
        yield f"{bag} lacks {lost} events, which were lost as it was recorded"


def _doubts_of_file(scan: McapScan) -> Iterator[str]:
    """Yield warnings about a file that was read: damaged, cut, unfinished or not checked."""
    total = scan.counts.total()
    if scan.damage:
        yield f"{scan.path} is damaged {scan.damage}; its messages are whole"
    elif not scan.complete and scan.data_complete:
        yield f"{scan.path} is cut in its index; its messages are whole"
    elif not scan.complete:
        read = f"{total} messages are read up to where it ends"
        yield f"{scan.path} is unfinished: {read}, {scan.unchecked} of them not checked"
    elif scan.unchecked:
        yield f"{scan.path} is not checked: {scan.unchecked} of {total} messages have no checksum"
    elif scan.lacks_data_checksum:
        yield f"{scan.path} is checked in parts; the order of its parts is not checked"


def doubt_of_metadata(bag: Path, scans: Sequence[McapScan]) -> str:
    """Return a warning if metadata.yaml does not agree with the files that were read, or ""."""
    file = bag / "metadata.yaml"
    metadata = read_metadata(bag)
    first = scans[0]
    if not metadata:
        return f"{file} is missing or damaged; {first.path.name} is read without it"
    # Our own bags have the same metadata in the MCAP file itself.
    complete = all(scan.complete for scan in scans)
    in_mcap = first.rosbag2_metadata if len(scans) == 1 and first.is_ours and complete else {}
    for key in {**in_mcap, **metadata} if in_mcap else ():
        if in_mcap.get(key) != metadata.get(key):
            return f"{file} differs from {first.path.name}, which is used, in {key}"
    stated_count = metadata.get("message_count")
    count = sum(scan.counts.total() for scan in scans)
    if stated_count != count and (complete or stated_count):
        return f"{file} counts {stated_count} messages, {count} are there"
    return ""


def find_bag(run: Path) -> Path:
    """Return the newest bag in a run folder; a bag itself is returned as it is."""
    if run.is_dir() and not any(map(is_storage, run.iterdir())):
        return max(_bags_in(run, "*"), key=_time_written, default=run)
    return run


def last_runs(count: int, folder: Path = RUNS) -> list[Path]:
    """Return the newest bags in a folder of runs, oldest first, without those of cross-checks.

    Raises:
        AccordError: if there are fewer than `count`.
    """
    in_run_folders = [bag for bag in _bags_in(folder, "*/*") if bag.name == "bag"]
    bags = sorted({*_bags_in(folder, "*"), *in_run_folders}, key=_time_written)
    if len(bags) < count:
        number = f"{len(bags)} recorded runs" if bags else "no recorded run"
        raise AccordError(f"{folder} holds {number}: name {count}, or record one with accord run")
    return bags[-count:]


def _bags_in(folder: Path, pattern: str) -> list[Path]:
    """Return the folders with storage files that match a glob pattern below a folder."""
    return [*{file.parent for file in folder.glob(f"{pattern}/*") if is_storage(file)}]


def _time_written(bag: Path) -> tuple[int, str]:
    """Return when a bag was last written, with its path, as a key to sort by."""
    return max(file.stat().st_mtime_ns for file in bag.iterdir() if is_storage(file)), str(bag)
