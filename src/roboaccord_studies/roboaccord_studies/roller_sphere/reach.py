"""Command `accord roller-sphere reach`: along which headings a rig drives its ball, and how fast.

A rig is a ball that rollers drive by friction. If the ball moves with a speed v along the heading
phi, roller i runs at nu_i = v g_i cos(phi - psi_i), with a gain g_i and an angle psi_i of the rig;
zeta_i is its slip. From this `gains`, `slip_gains`, `top_speed` and `blocked` follow in closed
form; test_roller_reach compares them with all headings one by one. builder_maps.py uses them, too.
Fields of `Reach` and `Driving` are JSON keys and stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer
from numpy.typing import ArrayLike
from roboaccord.cli import Result, gathers
from roboaccord.contract import IF_ANY, INLINE, Array, MetresPerSecond, Quantity, by_option
from roller_sphere.cli.rig import PAIRS, PAPER, Condition, RigOptions, Rollers
from roller_sphere.model.kinematics import ANGLE, TURN, Kinematics
from roller_sphere.model.rig import RigError

# Relative difference below which two speeds are equal (round-off): 4500 eps.
EQUAL_TOLERANCE = 1e-12
# How the figures of `Driving` and `Reach` are printed: unit, explanation, heading, format.
ROLLER_SPEED = Quantity("1", "of each roller over the ball's speed, at most", form=".6f")
EVERYWHERE = Quantity("m/s", "with rollers that reach the limit, in every direction", form=".6f")
BEST = Quantity("deg", "the best direction, and so is its opposite", "heading best", ".2f")
BLOCKED = Quantity("deg", "headings that need more", "blocked", ".2f")
REMAINING = Quantity("deg", "headings that can be reached, where not all can", "remaining", ".4f")
# Options of the command.
LIMIT = typer.Option(min=1e-9, help="Largest peripheral speed of a roller.")
SPEED = typer.Option(min=0.0, help="Speed of the ball, for the blocked headings.")


@by_option("roller", "", PAIRS, "radius limit speed")
@gathers("--roller", "--nu")
def reach_command(
    rig: RigOptions = PAPER,
    limit: Annotated[MetresPerSecond, LIMIT] = 2.0,
    speed: Annotated[MetresPerSecond, SPEED] = 1.0,
    rollers: Rollers = None,
) -> Result:
    """Report along which headings the ball can be driven, and how fast with limited rollers.

    A rig whose headings are limited by its geometry is not an error here: the remaining ones are
    named.

    Examples:

      accord roller-sphere reach --limit 1.5 --speed 1

      accord roller-sphere reach --roller 0 45 90 --roller 120 45 90 --roller 240 45 90

      accord roller-sphere reach --alpha-deg 38.9566 -38.9566 --json
    """
    if not np.isfinite([limit, speed]).all():
        raise RigError("limit and speed must be finite numbers")
    return Result(Reach.of(rig.kinematics(rollers), speed, limit))


@dataclass(frozen=True)
class Driving:
    """How a rig drives its ball, if it reaches every heading.

    Args:
        roller_speed_over_speed, slip_over_speed: largest |nu_i| and |zeta_i|, over the ball's speed
            (n,).
        speed_everywhere, speed_best: largest speed of the ball along every heading, and along the
            best one [m/s].
        heading_best_deg: the best heading.
        blocked_deg: intervals of the headings along which a roller would exceed its limit.
    """

    roller_speed_over_speed: Annotated[Array, ROLLER_SPEED]
    slip_over_speed: Annotated[Array, Quantity("1", "likewise the slip", form=".6f")]
    speed_everywhere: Annotated[float, EVERYWHERE]
    speed_best: Annotated[float, Quantity("m/s", "likewise in the best direction", form=".6f")]
    heading_best_deg: Annotated[float, BEST]
    blocked_deg: Annotated[list[tuple[float, float]], BLOCKED]


@dataclass(frozen=True)
class Reach:
    """Where a rig can drive its ball: the headings that remain, or None if all do."""

    condition: Condition
    remaining_deg: Annotated[list[float] | None, REMAINING] = None
    driving: Driving | None = field(default=None, metadata=IF_ANY | INLINE)

    @classmethod
    def of(cls, kinematics: Kinematics, speed: float, limit: float) -> Reach:
        """Return the reach of a rig."""
        remaining = kinematics.remaining
        if remaining is not None:
            return cls(kinematics.condition, np.degrees(remaining).tolist())
        best = fastest_heading(kinematics)
        largest_gains = gains(kinematics)
        spans = np.degrees(blocked(kinematics, speed, limit)).reshape(-1, 2).tolist()
        driving = Driving(
            roller_speed_over_speed=largest_gains,
            slip_over_speed=slip_gains(kinematics),
            speed_everywhere=limit / largest_gains.max(),
            speed_best=float(top_speed(kinematics, best, limit)),
            heading_best_deg=float(np.degrees(best)),
            blocked_deg=[(start, stop) for start, stop in spans],
        )
        return cls(kinematics.condition, driving=driving)


def gains(kinematics: Kinematics) -> Array:
    """Return the largest |nu_i| over all headings, over the ball's speed (n,).

    Raises:
        RigError: if the rig cannot drive the ball in every direction; so do all functions here.
    """
    return np.asarray(np.linalg.norm(kinematics.driving, axis=1) / kinematics.rig.radius)


def slip_gains(kinematics: Kinematics) -> Array:
    """Return the largest |zeta_i| over all headings, over the ball's speed (n,)."""
    per_velocity = kinematics.zeta(kinematics.driving.T) / kinematics.rig.radius
    return np.asarray(np.linalg.norm(per_velocity, ord=2, axis=(0, 2)))


def top_speed(kinematics: Kinematics, heading: ArrayLike, limit: float) -> Array:
    """Return the largest speed of the ball along headings [m/s].

    Args:
        kinematics: of the rig.
        heading: phi (...) [rad].
        limit: largest |nu_i| [m/s].
    """
    roller_speed = np.abs(kinematics.inverse(1.0, heading).nu).max(axis=-1)  # at 1 m/s
    return np.asarray(limit / roller_speed)


def fastest_heading(kinematics: Kinematics) -> float:
    """Return a heading in [0, pi) along which the ball can be driven fastest [rad].

    Between its zeros each |nu_i| is concave in phi. So the largest of them is smallest at a heading
    where two of them are equal, or where one is zero; all these headings are tried.
    """
    rows = kinematics.driving
    i, j = np.triu_indices(len(rows), 1)
    zeros = np.concatenate([rows, rows[i] - rows[j], rows[i] + rows[j]])
    # (w_x, w_y) normal to a row is along (-row_y, row_x); the heading is a quarter turn behind it.
    headings = np.mod(np.arctan2(zeros[:, 1], zeros[:, 0]), np.pi)
    headings[headings > np.pi - ANGLE] = 0.0
    speeds = top_speed(kinematics, headings, 1.0)
    return float(headings[speeds >= speeds.max() * (1.0 - EQUAL_TOLERANCE)].min())


def blocked(kinematics: Kinematics, speed: float, limit: float) -> list[tuple[float, float]]:
    """Return the headings along which at least one roller would have to exceed its largest speed.

    Args:
        kinematics: of the rig.
        speed: of the ball [m/s].
        limit: largest |nu_i| [m/s].

    Returns:
        intervals (start, stop) [rad], start in [0, 2 pi); stop is above 2 pi if 0 is inside.
    """
    spans: list[tuple[float, float]] = []
    for row, gain in zip(kinematics.driving, gains(kinematics), strict=True):
        if speed * gain <= limit:
            continue
        middle = float(np.arctan2(-row[0], row[1]))
        half = float(np.arccos(limit / (speed * gain)))
        for centre in (middle, middle + np.pi):
            start = (centre - half) % TURN
            spans.append((start, start + 2.0 * half))
    return _joined(spans)


def _joined(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Join spans on a circle that touch; each starts in [0, 2 pi)."""
    joined: list[tuple[float, float]] = []
    # Twice around, so that a span beyond 2 pi meets those after 0.
    for start, stop in sorted(spans + [(a + TURN, b + TURN) for a, b in spans]):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], stop)
        else:
            joined.append((start, stop))
    if any(stop - start >= TURN for start, stop in joined):
        return [(0.0, TURN)]
    # A span that ends beyond a whole turn contains the first ones again.
    covered = max((stop for start, stop in joined if start < TURN), default=0.0) - TURN
    return [(start, stop) for start, stop in joined if covered < start < TURN]
