"""Choose roller speeds that allow for the slip, and see where the ball goes."""

import numpy as np
import roboaccord as ra
from roller_sphere import Kinematics

setup = ra.setup_of("roller_sphere", "headings", duration=1)  # the first heading, rest to rest
motion = Kinematics(setup.parameters.rig).inverse(0.5, np.radians([0.0, 45.0, 90.0]))
for heading, nu, slip in zip((0, 45, 90), motion.nu, motion.slip):
    print(f"{heading:2d} deg: rollers {nu.round(4)} m/s, slip {slip.round(4)} m/s")

x = ra.run(setup).trajectory.position[:, 0]  # or engine="dart"
print(f"the ball has rolled {x[-1] - x[0]:.4f} m along x")
