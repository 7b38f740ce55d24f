"""Let a joint of the Packbot go loose in a motion to a target, with recovery and without."""

from packbot import Kinematics
from roboaccord import Setup, load_scenario, make_controller, make_simulator, simulate

for name in ("reach", "recover"):  # the first knows nothing of failures
    changes = [f"controller.name={name}", "faults=[elbow2=loose@0.8]"]
    setup = Setup.of(load_scenario("packbot", "packbot", "loose_elbow2", changes))
    controller = make_controller(setup)
    run = simulate(
        simulator=make_simulator(setup, "mujoco"),  # or "dart", or "reference"
        controller=controller,
        initial=setup.initial,
        duration=setup.scenario.duration,
        control_period=setup.scenario.control_period,
    )
    if name == "recover":
        for joint, found in controller.detected.items():
            print(f"{joint} is {found.kind}, found at {found.time:.2f} s")
        print(f"refused: {controller.reason or 'no'}")
    x, y, z = Kinematics(setup).tip(run.q[-1])
    print(f"{name}: finger tips at {x:.3f} {y:.3f} {z:.3f} m")
