"""The picture of a log: recorded efforts of each joint, and those that the file asks for.

All of it may be changed; nothing reads it. The efforts are those of the smooth motion through the
positions, without any of the causes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from roboaccord.report.drawing import legend, picture

from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.result import LogCheck
from roboaccord_files.logs.smooth import Smooth

ROW = 1.6  # inches of height a joint


def draw(log: Log, body: LogBody, check: LogCheck, path: Path) -> None:
    """Write the picture, in grey when half of what is not explained of the worst joint was.

    Raises:
        AccordError: if the file cannot be written.
    """
    scaled = check.taken.factors if check.taken else ()
    factors = {each.where: each.size or 1.0 for each in scaled}
    smooth, n = Smooth.of(log), len(log.joints)
    motions = [[spline(log.time[s], d) for d in range(3)] for s, spline in
               zip(log.segments, smooth.splines)]  # fmt: skip
    asked = [body.efforts(q, qd, qdd) + body.friction(qd) for q, qd, qdd in motions]
    with picture(path, (9.0, 1.0 + ROW * n), nrows=n, sharex=True, squeeze=False) as rows:
        for i, (axes, joint) in enumerate(zip(rows[:, 0], log.joints)):
            recorded = log.effort[:, i] * factors.get(joint, 1.0)
            axes.plot(log.time, recorded, color="C0", linewidth=1.0, label="recorded")
            for part, effort in zip(log.segments, asked):
                axes.plot(log.time[part], effort[:, i], "C3--", linewidth=1.0, label="by the file")
            low, high = np.percentile(recorded, [0.5, 99.5])
            room = 0.5 * (high - low) + 1e-9
            axes.set(ylabel=f"{joint} [N m]", ylim=(low - room, high + room))
            if joint == check.worst and not check.explanation.causes:
                axes.axvspan(*check.span, color="0.85")
        rows[-1, 0].set(xlabel="time [s]")
        legend(rows[0, 0])
