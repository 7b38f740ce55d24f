"""Let a joint of the Packbot go loose in a motion to a target, with recovery and without."""

import roboaccord as ra
from packbot import Kinematics

for name in ("reach", "recover"):  # the first knows nothing of failures
    changes = {"controller.name": name}
    setup = ra.setup_of("packbot", "loose_elbow2", changes, faults=["elbow2=loose@0.8"])
    controller = ra.make_controller(setup)
    run = ra.run(setup, engine="mujoco", controller=controller)  # or "dart", or "reference"
    if name == "recover":
        for joint, found in controller.detected.items():
            print(f"{joint} is {found.kind}, found at {found.time:.2f} s")
        print(f"refused: {controller.reason or 'no'}")
    x, y, z = Kinematics(setup).tip(run.trajectory.q[-1])
    print(f"{name}: finger tips at {x:.3f} {y:.3f} {z:.3f} m")
