"""What a fit of a log's errors means: causes with their intervals, and the simulator's scheme.

Units may be added: a hypothesis that is new in regression.py must have its unit in UNITS, and in
SLIDING where a joint that slides has another; without one its size is shown as a part. SCHEMES and
NEAR may be changed: they only name the scheme, and no verdict depends on them. INTERVAL is fixed:
95 % of a normal distribution.
"""

from __future__ import annotations

import numpy as np
from roboaccord.crosscheck.hypotheses import AXES
from roboaccord.crosscheck.regression import SMALL

from roboaccord_files.logs.parameters import DRY, OFFSET, TILT
from roboaccord_files.logs.regression import Fit, LogRegression
from roboaccord_files.logs.result import LogCause
from roboaccord_files.logs.windows import FLOOR

INTERVAL = 1.96  # of 95 %, in standard errors
UNITS = {
    "centre": "m", "origin": "m", "axis": "rad", TILT: "rad", "armature": "kg m^2", "zero": "rad",
    "damping": "N m s/rad", DRY: "N m", OFFSET: "N m", "delay": "s",
}  # fmt: skip
SLIDING = {
    "armature": "kg", "zero": "m", "damping": "N s/m", DRY: "N", OFFSET: "N",
}  # fmt: skip
SCHEMES = {
    "forward Euler": (1.0, 0.5),
    "semi-implicit Euler": (0.0, 0.5),
    "of order 2 or more": (0.0, 0.0),
}
NEAR = 0.15  # samples from a scheme's a and b


def causes_of(fit: Fit, longer: LogRegression) -> list[LogCause]:
    """Return the components of hypotheses as they were fitted."""
    log, found = longer.windows.log, []
    again = longer.fit(fit.groups, fit.shift)
    widths = INTERVAL * fit.deviations + np.abs(again.sizes - fit.sizes)
    if fit.late:
        at = fit.shift + fit.sizes[-1]
        half = 0.5 + widths[-1]  # a scheme moves it by half a step
        value, low, high = (float(log.period * (at + part * half)) for part in (0.0, -1.0, 1.0))
        found.append(LogCause("delay", "", value, low, high, "s"))
    slides = {joint.name for joint in longer.windows.body.tree.moving if joint.kind == "prismatic"}
    ones = fit.ones
    for i, one in enumerate(ones):
        widths[i] += FLOOR / longer.share(longer.slope(one, fit.shift)).max()
    for one, size, half in zip(ones, fit.sizes.tolist(), widths.tolist()):
        most = max(abs(s) for o, s in zip(ones, fit.sizes) if o.whole == one.whole)
        if abs(size) < most and (abs(size) < SMALL * most or abs(size) < half):
            continue
        quantity, unit = one.quantity, UNITS.get(one.quantity, "1")
        if one.where in slides:
            unit = SLIDING.get(quantity, unit)
        axes = AXES.get("centre" if quantity == TILT else quantity, ())
        axis = axes[one.axis] if axes and quantity != "gravity" else ""
        found.append(LogCause(quantity, one.where, size, size - half, size + half, unit, axis))
    return found


def scheme_of(fit: Fit) -> str:
    """Return the scheme that a fit shows, "" where it does not."""
    late, slow = fit.sizes[-4:-2]
    if fit.deviations[-4:-2].max() > NEAR / INTERVAL:
        return ""
    near = {name: max(abs(late - a), abs(slow - b)) for name, (a, b) in SCHEMES.items()}
    name = min(near, key=near.__getitem__)
    return name if near[name] < NEAR else ""
