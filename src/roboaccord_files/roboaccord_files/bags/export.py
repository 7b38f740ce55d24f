"""Export recorded runs to CSV, NumPy and MATLAB files: the work of `accord export`.

`export` reads the recording of a run, a bag, and writes each format that is asked for. The columns
of CSV are those of `roboaccord.bag.columns`; `arrays` has the named arrays of the other formats.
Users' scripts read the arrays by name and order, so new ones come at the end. All digits are kept.
A further format is a function like `_write_npz`, an argument of `export` and an ending in
contract/files.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord.bag.columns import columns, table
from roboaccord.bag.reader import BagRun, read_run
from roboaccord.contract import AccordError, check_target, writing
from roboaccord.contract.trajectory import OVER_TIME


def arrays(run: BagRun) -> dict[str, Any]:
    """Return a run as named arrays, with joint names, units, commands, events and scenario."""
    motion, events = run.trajectory, run.trajectory.events
    return {
        **{name: getattr(motion, name) for name in OVER_TIME},
        "command_time": run.commands.time,
        "command_effort": run.commands.effort,
        "event_time": np.array([event.time for event in events]),
        "event_impulse": np.array([event.impulse for event in events]),
        "event_kind": _texts([event.kind for event in events]),
        "event_subject": _texts([event.subject for event in events]),
        "switches": np.array(list(motion.switches.values())).reshape(-1, len(motion)).T,
        "switch_names": _texts(motion.switches),
        "joints": _texts(motion.joints),
        "columns": _texts(columns(run)),
        "scenario": np.array(json.dumps(run.scenario)),
        "sha256": np.array(run.sha256 or ""),
        # Free bodies, if there are any: (k, b, 13).
        **({} if motion.bodies is None else {"bodies": motion.bodies}),
    }


def export(
    bag: Path, *, csv: Path | None = None, npz: Path | None = None, mat: Path | None = None
) -> list[Path]:
    """Write a recorded run to each given file; an older file of the same kind is replaced.

    Args:
        bag: folder of a run or a bag, or MCAP file, finished or not.
        csv: one row for each control step, names and units in the first line, all digits kept.
        npz: named arrays for `numpy.load`.
        mat: the same arrays for MATLAB and Octave.

    Returns:
        The files that were written.

    Raises:
        AccordError: if no file is given, `bag` is not a bag, or a file cannot be written.
    """
    formats = ((_write_csv, csv, ".csv"), (_write_npz, npz, ".npz"), (_write_mat, mat, ".mat"))
    targets = [(write, path, kind) for write, path, kind in formats if path is not None]
    if not targets:
        raise AccordError("nothing to write: give --csv FILE, --npz FILE or --mat FILE")
    for _, path, kind in targets:
        if path.suffix in {other for *_, other in formats} - {kind}:
            raise AccordError(f"--{kind[1:]} writes {kind}: --{path.suffix[1:]} {path}")
        check_target(path, kind)
    run = read_run(bag)
    for write, path, kind in targets:
        with writing(path, kind) as draft:
            write(draft, run)
    return [path for _, path, _ in targets]


def _write_csv(draft: Path, run: BagRun) -> None:
    """Write a row for each control step, with 17 digits, from which the same floats are read."""
    style = {"fmt": "%.17g", "delimiter": ",", "comments": "", "encoding": "utf-8"}
    np.savetxt(draft, table(run), header=",".join(columns(run)), **style)


def _write_npz(draft: Path, run: BagRun) -> None:
    """Write the named arrays for NumPy."""
    np.savez_compressed(draft, **arrays(run))


def _write_mat(draft: Path, run: BagRun) -> None:
    """Write the same arrays for MATLAB, texts as cell arrays."""
    from scipy.io import savemat

    data = arrays(run)
    for name in ("event_kind", "event_subject", "switch_names", "joints", "columns"):
        data[name] = data[name].astype(object)  # MATLAB's cell arrays of text
    with draft.open("wb") as stream:
        savemat(stream, data, do_compression=True, oned_as="column")


def _texts(words: Any) -> Any:
    """Return words as an array of text."""
    return np.array(list(words), dtype=np.str_)
