"""Draw the recorded efforts of each joint, and the efforts that the robot's file predicts.

The prediction is the inverse dynamics of the file along the smooth motion through the recorded
positions, without any of the causes that the check has named.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from roboaccord.report.drawing import legend, picture

from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.result import LogCheck
from roboaccord_files.logs.smooth import Smooth

ROW_HEIGHT = 1.6  # inches; height of a joint's row; two axes' labels of 10 points fit


def draw(log: Log, body: LogBody, check: LogCheck, path: Path) -> None:
    """Write the picture, a row a joint.

    If no cause explains the residuals, a grey band marks the shortest span with half of them, in
    the row of the worst joint.

    Raises:
        AccordError: if the file cannot be written.
    """
    scaled = check.taken.factors if check.taken else ()
    factors = {cause.where: cause.size or 1.0 for cause in scaled}
    n = len(log.joints)
    # Positions, rates and accelerations of each stretch without a gap, and the efforts they need.
    predicted = []
    for stretch, spline in zip(log.segments, Smooth.of(log).splines):
        q, qd, qdd = (spline(log.time[stretch], order) for order in range(3))
        predicted.append(body.efforts(q, qd, qdd) + body.friction(qd))
    with picture(path, (9.0, 1.0 + ROW_HEIGHT * n), nrows=n, sharex=True, squeeze=False) as rows:
        for i, (axes, joint) in enumerate(zip(rows[:, 0], log.joints)):
            recorded = log.effort[:, i] * factors.get(joint, 1.0)
            axes.plot(log.time, recorded, color="C0", linewidth=1.0, label="recorded")
            for stretch, effort in zip(log.segments, predicted):
                axes.plot(log.time[stretch], effort[:, i], "C3--", linewidth=1, label="by the file")
            # Percentiles, so that peaks of the prediction at impacts do not set the scale.
            low, high = np.percentile(recorded, [0.5, 99.5])
            margin = 0.5 * (high - low) + 1e-9
            axes.set(ylabel=f"{joint} [N m]", ylim=(low - margin, high + margin))
            if joint == check.worst and not check.explanation.causes:
                axes.axvspan(*check.span, color="0.85")
        rows[-1, 0].set(xlabel="time [s]")
        legend(rows[0, 0])
