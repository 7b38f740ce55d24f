"""Run the snake in two simulators, and change what it stands on."""

import numpy as np
from roboaccord import Setup, Trajectory, load_scenario, make_controller, make_simulator, simulate
from snake import metrics


def run(engine: str, *changes: str) -> tuple[Setup, Trajectory]:
    """Run the serpenoid gait for 5 s with changes to its scenario, as `accord run --set` does."""
    setup = Setup.of(load_scenario("snake", "snake", "serpenoid", ["duration=5", *changes]))
    trajectory = simulate(
        simulator=make_simulator(setup, engine),
        controller=make_controller(setup),
        initial=setup.initial,
        duration=setup.scenario.duration,
        control_period=setup.scenario.control_period,
    )
    return setup, trajectory


setup, reference = run("reference")
print(f"speed {metrics(setup, reference)['speed']:.3f} m/s")

rougher = run("reference", "friction.mu_along=0.5")
print(f"speed with mu_along 0.5 {metrics(*rougher)['speed']:.3f} m/s")

_, mujoco = run("mujoco")
gap = np.linalg.norm(mujoco.position[-1] - reference.position[-1])
print(f"mujoco ends {1e3 * gap:.2g} mm from the reference")
