"""Search the MonkeyBot's gaits: a passive one, the report's, and a landscape around it."""

import numpy as np
from monkeybot import (
    LIMIT,
    MonkeyBotParameters,
    evaluate,
    find_collisionless,
    horizontal,
    landscape,
    minimise,
)
from roboaccord import load_parameters

robot = load_parameters(MonkeyBotParameters, "monkeybot", {})
passive = find_collisionless(robot, 0.58)
print(f"stride {passive.stride:.4f} m without motor and impact, in {passive.period:.4f} s")

gait = horizontal(2.0, limit=LIMIT)  # torque of the motor in N m
once = evaluate(gait, robot, np.array([0.902, 10.935]))
print(f"the report's gait: hands change at {once.switch_time[0]:.4f} s, error {once.error[0]:.3g}")

field = landscape(gait, robot, np.linspace(0.0, 3.0, 61), np.linspace(8.0, 14.0, 61))
w1, w2, error = field.lowest
print(f"{field.error.size} gaits: least error {error:.2g} from rates {w1:.3f} and {w2:.3f} rad/s")

best = minimise(gait, robot, np.array([w1, w2]))
print(f"from there it falls to {best.figures.error:.1g} at {best.rates.round(4)}")
