"""Let the Packbot's hand reach between two boards, and see how far it keeps from them."""

from packbot import Clearance, Kinematics
from roboaccord import Setup, load_scenario, make_controller, make_simulator, simulate

target = "controller.target=[1.10, -0.12, 0.62]"  # m, in the world
setup = Setup.of(load_scenario("packbot", "packbot", "shelf", [target]))
controller = make_controller(setup)  # plans at its reset, with the seed of `simulate`
run = simulate(
    simulator=make_simulator(setup, "mujoco"),  # or "dart", or "reference"
    controller=controller,
    initial=setup.initial,
    duration=setup.scenario.duration,
    control_period=setup.scenario.control_period,
)
print(f"a path of {len(controller.motion.corners)} corners, {controller.motion.duration:.2f} s")

clearance = Clearance.of(setup)
pair, nearest = min((clearance.closest(q) for q in run.q[::5]), key=lambda found: found[1])
print(f"{' and '.join(clearance.pair_names(pair))} come as near as {1e3 * nearest:.1f} mm")
x, y, z = Kinematics(setup).tip(run.q[-1])
print(f"finger tips at {x:.4f} {y:.4f} {z:.4f} m")
