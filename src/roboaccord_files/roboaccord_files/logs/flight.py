"""Find the parts of a log in which the contacts of a floating base are known: flights and swings.

The equations of a robot with a floating base contain the forces of whatever touches it, and a log
does not record them. They are known in two cases only:

- flight: nothing touches the robot. Its centre of mass then falls freely, which is how a flight is
  recognised, and all six equations of the base hold without a force.
- swing: the origin of the root link stays in place while the link turns, as if hung on a pivot. The
  three forces of the pivot are left unknown, and the other three equations of the base hold.

Only these parts are judged. FREE_FALL_ERROR decides what a flight is, PIVOT_MOTION and MIN_SWING
what a swing is; all constants may be tuned.
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

# Share of gravity; largest deviation of the centre of mass's acceleration from free fall in a
# flight. Most contacts cause more; a link that is 5 % heavier than in the file seems to cause less.
FREE_FALL_ERROR = 0.1
# s; half width of the second difference that gives this acceleration. Noise d of the position gives
# sqrt(6) d / HALF_WIDTH^2, which is FREE_FALL_ERROR at 0.04 mm; a longer one blurs take-off and
# landing.
HALF_WIDTH = 0.01
# Samples; that half width in a log with long periods: at 100 Hz 40 ms, as long as a short contact.
FEWEST_STEPS = 4
# m; largest motion of a pivot within 2 HALF_WIDTH. Noise and give of a grip are below, a base that
# slides is above within 0.02 s at 0.05 m/s.
PIVOT_MOTION = 1e-3
# rad; smallest range of an angle of the root link in a swing. Gravity then turns by 10 % in the
# link's frame, as FREE_FALL_ERROR.
MIN_SWING = 0.1
# Samples; with fewer in all flights and swings the log is refused: two stretches of
# SHORTEST_STRETCH.
FEWEST_SAMPLES = 60


def where_known(log: Log, body: LogBody) -> Log:
    """Return a log cut to its flights and swings.

    The first six columns of `log.q` are the base's: position (3), then three angles, the middle one
    of which must stay below STEEPEST, where the other two are no longer distinct.

    Raises:
        AccordError: if flights and swings together are too short to be judged.
    """
    flights, swings = list[slice](), list[slice]()
    for stretch in log.segments:
        is_usable, start = np.abs(log.q[stretch, 4]) < STEEPEST, stretch.start
        # Swings: the origin stays, and the link turns about it.
        pivots = _runs(_is_pivoting(log, stretch) & is_usable, start)
        pivots = [run for run in pivots if np.ptp(log.q[run, 3:6], axis=0).max() > MIN_SWING]
        for run in pivots:
            is_usable[run.start - start : run.stop - start] = False
        swings += pivots
        # Flights: among the other samples, those in free fall.
        flights += _runs(_is_falling(log, body, stretch) & is_usable, start)
    in_flight = sum(run.stop - run.start for run in flights)
    in_swing = sum(run.stop - run.start for run in swings)
    if in_flight + in_swing < FEWEST_SAMPLES:
        distance = np.linalg.norm(log.q[:, :3] - log.q[0, :3], axis=1).max()
        few = f"{in_flight} samples of flight and {in_swing} of swings, {FEWEST_SAMPLES} are needed"
        raise AccordError(f"the base moves {distance:.3g} m, and what touches it is unknown: {few}")
    counts = f"{in_flight} samples in flight and {in_swing} in swings"
    note = f"the base floats: {counts} are judged, no others"
    judged = sorted([*flights, *swings], key=lambda run: run.start)
    return replace(log, segments=judged, swings=swings, notes=[*log.notes, note])


def _runs(mask: NDArray[np.bool_], start: int) -> list[slice]:
    """Return the runs of True in a mask (k,) that last for SHORTEST_STRETCH samples or more.

    Slices count samples of the log; `start` is the one of the mask's first element.
    """
    ends = (np.flatnonzero(np.diff(mask, prepend=False, append=False)) + start).tolist()
    runs = [slice(first, end) for first, end in zip(ends[::2], ends[1::2])]
    return [run for run in runs if run.stop - run.start >= SHORTEST_STRETCH]


def _is_pivoting(log: Log, stretch: slice) -> NDArray[np.bool_]:
    """Return a mask (k,) of samples around which the base's origin stays in place."""
    steps, position = _half_width(log), log.q[stretch, :3]
    padded = np.pad(position, ((steps, steps), (0, 0)), mode="edge")
    ranges = np.ptp(sliding_window_view(padded, 2 * steps + 1, axis=0), axis=2).max(axis=1)
    return _holds_around(ranges < PIVOT_MOTION, steps)


def _holds_around(mask: NDArray[np.bool_], steps: int) -> NDArray[np.bool_]:
    """Return the mask (k,) of samples around which a mask holds for some steps on both sides."""
    padded = np.pad(mask, steps, mode="edge")
    return np.asarray(sliding_window_view(padded, 2 * steps + 1).all(axis=1))


def _half_width(log: Log) -> int:
    """Return the half width of second differences, in samples."""
    return max(FEWEST_STEPS, round(HALF_WIDTH / log.period))


def _is_falling(log: Log, body: LogBody, stretch: slice) -> NDArray[np.bool_]:
    """Return a mask (k,) of samples around which the robot's centre of mass falls freely.

    Its acceleration is a second difference over s samples on both sides:
    a = 2 (v_after - v_before) / (t_after - t_before), with mean velocities v over s samples.
    """
    # Centre of mass of the robot (k, 3), from the recorded positions.
    q, time = log.q[stretch], log.time[stretch, None]
    motions = link_motions(body.tree, body.joints, body.gravity, q, 0.0 * q, 0.0 * q)
    masses = np.array([link.mass for link in body.tree.links])
    frames = [(motions[link.name], link.centre) for link in body.tree.links]
    centres = [frame.origin + frame.rotation @ offset for frame, offset in frames]
    centre = np.tensordot(masses / masses.sum(), np.array(centres), 1)
    s = _half_width(log)
    if len(time) < 2 * s + 1:
        return np.zeros(len(time), bool)
    velocity = (centre[s:] - centre[:-s]) / (time[s:] - time[:-s])
    acceleration = 2.0 * (velocity[s:] - velocity[:-s]) / (time[2 * s :] - time[: -2 * s])
    deviation = np.linalg.norm(acceleration - body.gravity, axis=1)
    is_free = deviation < FREE_FALL_ERROR * np.linalg.norm(body.gravity)
    return _holds_around(np.pad(is_free, s, mode="edge"), s)
