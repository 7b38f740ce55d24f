"""Draw the responses of a joint: its step, its ramp and how it holds its weight, in all engines."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from roboaccord.report.drawing import legend, picture

from roboaccord_files.servo.compare import RAMP
from roboaccord_files.servo.result import EXACT, Servos

SIZE = 10.0, 3.4  # inches; three axes side by side


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
    titles = {"step": "step", "ramp": "ramp: distance from it", "hold": "weight: distance"}
    with picture(path, SIZE, ncols=len(titles)) as axes:
        for part, (key, title) in zip(axes, titles.items(), strict=True):
            for name, curves in servos.curves[joint].items():
                time = np.arange(len(curves[key])) / servos.rate
                values = RAMP * time - curves[key] if key == "ramp" else curves[key]
                exact = name.startswith(EXACT)
                style = {"color": "0.6", "linewidth": 3.0} if exact else {"linewidth": 1.0}
                part.plot(time, values, label=name, **style)
            part.set(title=title, xlabel="time [s]")
        axes[0].set(ylabel=f"{joint} [{unit}]")
        legend(axes[0], columns=6)
