"""Draw the responses of a joint in all engines: step, ramp, and how it holds its weight.

Below are the differences from the exact responses, which are too small to be seen above.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from roboaccord.engines import REFERENCE
from roboaccord.report.drawing import legend, picture

from roboaccord_files.servo.compare import RAMP
from roboaccord_files.servo.result import EXACT, Servos

SIZE = 10.0, 5.6  # inches; three axes side by side in two rows


def draw(servos: Servos, joint: str, unit: str, path: Path) -> None:
    """Write the picture of a joint.

    Args:
        servos: with the curves.
        joint: its name.
        unit: of its position.
        path: of the picture, .svg or .png.

    Raises:
        AccordError: if the file cannot be written.
    """
    titles = {"step": "step", "ramp": "behind a ramp", "hold": "under its weight"}
    with picture(path, SIZE, nrows=2, ncols=len(titles), sharex=True) as axes:
        for (above, below), (key, title) in zip(axes.T, titles.items(), strict=True):
            exact = {}
            for name, curves in servos.curves[joint].items():
                engine, _, mode = name.partition(" ")
                curve = curves[key]
                time = np.arange(len(curve)) / servos.rate
                values = RAMP * time - curve if key == "ramp" else curve
                if engine in (EXACT, REFERENCE):
                    exact[mode] = curve
                    above.plot(time, values, color="0.6", linewidth=3.0, label=name)
                    continue
                (line,) = above.plot(time, values, linewidth=1.0, label=name)
                if len(curve) == len(exact.get(mode, ())):
                    difference = curve - exact[mode]
                    below.plot(time, difference, color=line.get_color(), linewidth=1.0)
            above.set(title=title)
            below.set(xlabel="time [s]")
        axes[0, 0].set(ylabel=f"{joint} [{unit}]")
        axes[1, 0].set(ylabel=f"from the exact one [{unit}]")
        legend(axes[0, 0], columns=6)
