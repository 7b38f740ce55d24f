"""Picture of the blog post's eight configurations: its table, and the body's shape in each.

Each configuration is a row: its number, the twists of the four segments (post.py), and the outlines
of the links with the head on the left. `accord snake shapes --out` calls `write_picture`. Colours
and layout (the constants) may be changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from roboaccord import report
from roboaccord.contract import Array

from snake.model.parameters import SnakeParameters
from snake.source.post import LOOP, SEGMENTS, START, segment_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#d1495b", "#ee9b3a", "#12a594", "#5b8def")  # of the segments, by eye
# Layout, by eye; no result depends on it. In metres of the drawn snake; shapes begin at x = 0.
TABLE_LEFT = -2.2  # x of the table's left edge
FIRST_COLUMN, COLUMN_WIDTH = -1.5, 0.33  # x of the first column of twists, and the columns' width
MARGIN, HEADING_HEIGHT = 0.09, 0.25  # space above and below a shape, and height of the headings
RIGHT_MARGIN = 0.1  # space beyond the longest shape
TIP = 2.6  # distance of the head's tip from the centre of its link, in half link lengths
INCHES_PER_METRE = 1.95  # size of the picture


def angles_of(parameters: SnakeParameters, twists: tuple[int, ...]) -> Array:
    """Return the joint angles of a configuration (n,) [rad]; for a twist of 0 they are 0."""
    by_joint = np.array(twists)[segment_of(parameters.joints)]
    return np.asarray(0.5 * parameters.joint_limit * by_joint)


def outlines(parameters: SnakeParameters, angles: Array) -> Array:
    """Return the corners of the links from the head to the tail (n + 1, 4, 2) [m].

    The body is turned such that its mean heading points to the left.
    """
    p = parameters
    # From the tail, whose heading is 0 at first, each link turns by the angle of the joint behind
    # it.
    heading = np.append(np.cumsum(angles[::-1])[::-1], 0.0)
    heading += np.pi - heading.mean()
    forward = np.column_stack([np.cos(heading), np.sin(heading)])
    steps = p.pivot_behind_front * forward[:-1] + p.pivot_ahead_of_rear * forward[1:]
    centres = np.vstack([np.zeros(2), -np.cumsum(steps, axis=0)])
    along = 0.5 * p.link_length * forward
    across = 0.5 * p.link_width * np.column_stack([-forward[:, 1], forward[:, 0]])
    corners = [centres + a * along + b * across for a, b in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
    return np.stack(corners, axis=1)


def write_picture(parameters: SnakeParameters, path: Path) -> None:
    """Write the table with the shapes as an image, .svg or .png by the name of the file.

    Raises:
        AccordError: for another ending, or a file that cannot be written.
    """
    rows = [outlines(parameters, angles_of(parameters, twists)) for twists in (*START, *LOOP)]
    # Each shape moved to x >= 0 and y >= 0; the rows are then stacked downwards.
    rows = [links - links.reshape(-1, 2).min(axis=0) for links in rows]
    right = max(links[..., 0].max() for links in rows) + RIGHT_MARGIN
    tops = np.cumsum([2.0 * MARGIN + links[..., 1].max() for links in rows])
    width, height = right - TABLE_LEFT, tops[-1] + HEADING_HEIGHT
    with report.picture(path, (INCHES_PER_METRE * width, INCHES_PER_METRE * height)) as axes:
        axes.set(xlim=(TABLE_LEFT, right), ylim=(-tops[-1], HEADING_HEIGHT))
        axes.set_axis_off()
        axes.text(TABLE_LEFT, 0.5 * HEADING_HEIGHT, "configuration", color=report.SOFT)
        axes.text(0.0, 0.5 * HEADING_HEIGHT, "shape, head on the left", color=report.SOFT)
        for i, (name, colour) in enumerate(zip(SEGMENTS, COLOURS, strict=True)):
            axes.text(FIRST_COLUMN + COLUMN_WIDTH * i, 0.5 * HEADING_HEIGHT, name, color=colour)
        for number, (links, top) in enumerate(zip(rows, tops, strict=True), 1):
            draw_row(axes, parameters, number, links + np.array([0.0, MARGIN - top]))


def draw_row(axes: Axes, parameters: SnakeParameters, number: int, links: Array) -> None:
    """Draw a configuration, counted from 1, with its links (n + 1, 4, 2) [m]."""
    from matplotlib.collections import PolyCollection

    segment = np.append(segment_of(parameters.joints), 3)
    front, centre = links[0, :2], links[0].mean(axis=0)
    tip = centre + TIP * (front.mean(axis=0) - centre)
    head = np.array([*front, tip])  # a triangle that marks the head
    axes.add_collection(PolyCollection(list(links), facecolors=[COLOURS[s] for s in segment]))
    axes.add_collection(PolyCollection([head], facecolors=report.INK))
    low, high = links[..., 1].min(), links[..., 1].max()
    axes.axhline(high + MARGIN, color=report.RULE, lw=0.8)
    section = "start" if number <= len(START) else "loop"
    middle = 0.5 * (low + high)
    axes.text(TABLE_LEFT, middle, f"{number}  {section}", va="center")
    for i, twist in enumerate((*START, *LOOP)[number - 1]):
        if twist:
            x = FIRST_COLUMN + COLUMN_WIDTH * i
            axes.text(x, middle, f"{twist:+d}", va="center", color=COLOURS[i])
