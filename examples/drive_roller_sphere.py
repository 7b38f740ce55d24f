"""Choose roller speeds that allow for the slip, and see where the ball goes."""

import numpy as np
from roboaccord import Setup, load_scenario, make_controller, make_simulator, simulate
from roller_sphere import Kinematics

setup = Setup.of(load_scenario("roller_sphere", "roller_sphere", "headings"))
motion = Kinematics(setup.parameters.rig).inverse(0.5, np.radians([0.0, 45.0, 90.0]))
for heading, nu, slip in zip((0, 45, 90), motion.nu, motion.slip):
    print(f"{heading:2d} deg: rollers {nu.round(4)} m/s, slip {slip.round(4)} m/s")

run = simulate(
    simulator=make_simulator(setup),  # or make_simulator(setup, "dart")
    controller=make_controller(setup),
    initial=setup.initial,
    duration=1.0,  # the first of the headings, from rest to rest
    control_period=setup.scenario.control_period,
)
print(f"the ball has rolled {run.position[-1, 0] - run.position[0, 0]:.4f} m along x")
