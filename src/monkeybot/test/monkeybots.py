"""Robots that the MonkeyBot's tests share, states as `lagrangian` takes them, and commands."""

import numpy as np
from hypothesis import strategies as st
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.description.parameters import load_parameters

REPORT = load_parameters(MonkeyBotParameters, "monkeybot")
# Links that have nothing in common, so that no exchange of theirs goes unseen.
UNLIKE = REPORT.replace(
    mass_a=2.1, mass_b=3.4, inertia_a=0.04, inertia_b=0.11, length_a=0.5, length_b=0.83,
    centre_a=0.2, centre_b=0.61, gravity=3.7,
)  # fmt: skip
ROUGH = UNLIKE.replace(
    viscous_hand=0.05, viscous_elbow=0.03, constant_hand=0.2, constant_elbow=0.1,
    friction_speed=0.5,
)  # fmt: skip

angles = st.floats(-3.0, 3.0)
rates = st.floats(-10.0, 10.0)
states = st.tuples(angles, angles, rates, rates, angles, angles, rates, rates).map(np.array)


def oracle(u):
    """Return (x, y, th1, th2) and its rates."""
    return np.array([u[4], u[5], u[0], u[1]]), np.array([u[6], u[7], u[2], u[3]])
