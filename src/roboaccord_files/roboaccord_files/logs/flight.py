"""Flights and swings of a log whose base floats: what touches the robot is known there.

Six equations of a floating base have no unknown force where nothing touches the robot, and its
centre of mass falls freely there. Where the origin of the root link stays while the link turns, it
is a pivot that something holds, whose three forces are left open, as of a joint that rests. The
bounds may be tuned: ASIDE decides what a flight is, STAYS and TURNS what a swing is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from roboaccord.contract.errors import AccordError
from roboaccord.description.inverse import link_motions

from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.floating import STEEPEST
from roboaccord_files.logs.log import SHORTEST_STRETCH, Log

ASIDE = 0.1  # of gravity: less than most contacts, more than what a link 5 % heavier seems to do
SPAN, FEWEST_STEPS = 0.01, 4  # s, and samples, on both sides of a second difference
STAYS, TURNS = 1e-3, 0.1  # m, and rad at least: a pivot
FEWEST_SAMPLES = 60  # of all flights and swings


def where_known(log: Log, body: LogBody) -> Log:
    """Return a log cut to its flights and swings.

    Raises:
        AccordError: if they are too short to be judged.
    """
    flights, swings = list[slice](), list[slice]()
    for stretch in log.segments:
        near, start = np.abs(log.q[stretch, 4]) < STEEPEST, stretch.start
        pivots = _runs(_stays(log, stretch) & near, start)
        pivots = [run for run in pivots if np.ptp(log.q[run, 3:6], axis=0).max() > TURNS]
        for run in pivots:
            near[run.start - start : run.stop - start] = False
        swings += pivots
        flights += _runs(_falls(log, body, stretch) & near, start)
    fly, swing = (sum(run.stop - run.start for run in x) for x in (flights, swings))
    if fly + swing < FEWEST_SAMPLES:
        far = np.linalg.norm(log.q[:, :3] - log.q[0, :3], axis=1).max()
        few = f"{fly} samples of flight and {swing} of swings, {FEWEST_SAMPLES} are needed"
        raise AccordError(f"the base moves {far:.3g} m, and what touches it is unknown: {few}")
    note = f"the base floats: {fly} samples in flight and {swing} in swings are judged, no others"
    judged = sorted([*flights, *swings], key=lambda run: run.start)
    return replace(log, segments=judged, swings=swings, notes=[*log.notes, note])


def _runs(kept: NDArray[np.bool_], start: int) -> list[slice]:
    """Return where samples (k,) are kept for a stretch, from a first sample on."""
    ends = (np.flatnonzero(np.diff(kept, prepend=False, append=False)) + start).tolist()
    return [slice(a, b) for a, b in zip(ends[::2], ends[1::2]) if b - a >= SHORTEST_STRETCH]


def _stays(log: Log, stretch: slice) -> NDArray[np.bool_]:
    """Return at which samples of a stretch, and for SPAN around, the base's origin stays (k,)."""
    steps, place = _steps(log), log.q[stretch, :3]
    around = np.pad(place, ((steps, steps), (0, 0)), mode="edge")
    moves = np.ptp(sliding_window_view(around, 2 * steps + 1, axis=0), axis=2).max(axis=1)
    return _throughout(moves < STAYS, steps)


def _throughout(kept: NDArray[np.bool_], steps: int) -> NDArray[np.bool_]:
    """Return which samples (k,) are kept with all for some steps around."""
    around = np.pad(kept, steps, mode="edge")
    return np.asarray(sliding_window_view(around, 2 * steps + 1).all(axis=1))


def _steps(log: Log) -> int:
    return max(FEWEST_STEPS, round(SPAN / log.period))


def _falls(log: Log, body: LogBody, stretch: slice) -> NDArray[np.bool_]:
    """Return at which samples of a stretch, and for SPAN around, nothing touches the robot (k,).

    The acceleration of the centre of mass is its second difference over SPAN.
    """
    q, t = log.q[stretch], log.time[stretch, None]
    motions = link_motions(body.tree, body.joints, body.gravity, q, 0.0 * q, 0.0 * q)
    masses = np.array([link.mass for link in body.tree.links])
    at = [motions[x.name].origin + motions[x.name].turn @ x.centre for x in body.tree.links]
    centre = np.tensordot(masses / masses.sum(), np.array(at), 1)
    s = _steps(log)
    if len(t) < 2 * s + 1:
        return np.zeros(len(t), bool)
    rates = (centre[s:] - centre[:-s]) / (t[s:] - t[:-s])
    change = 2.0 * (rates[s:] - rates[:-s]) / (t[2 * s :] - t[: -2 * s])
    aside = np.linalg.norm(change - body.gravity, axis=1)
    falls = aside < ASIDE * np.linalg.norm(body.gravity)
    return _throughout(np.pad(falls, s, mode="edge"), s)
