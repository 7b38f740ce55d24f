"""Let the Packbot's hand reach between two boards, and see how far it keeps from them."""

import roboaccord as ra
from packbot import Clearance, Kinematics

target = {"controller.target": [1.10, -0.12, 0.62]}  # m, in the world
setup = ra.setup_of("packbot", "shelf", target)
controller = ra.make_controller(setup)  # plans at its reset, with the seed of the scenario
run = ra.run(setup, engine="mujoco", controller=controller)  # or "dart", or "reference"
print(f"a path of {len(controller.motion.corners)} corners, {controller.motion.duration:.2f} s")

clearance, q = Clearance.of(setup), run.trajectory.q
pair, nearest = min((clearance.closest(each) for each in q[::5]), key=lambda found: found[1])
print(f"{' and '.join(clearance.pair_names(pair))} come as near as {1e3 * nearest:.1f} mm")
x, y, z = Kinematics(setup).tip(q[-1])
print(f"finger tips at {x:.4f} {y:.4f} {z:.4f} m")
