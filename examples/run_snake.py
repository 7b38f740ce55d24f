"""Run the snake in two simulators, and change what it stands on."""

import numpy as np
import roboaccord as ra

reference = ra.run("snake", "serpenoid", duration=5)
print(f"speed {reference.metrics['speed']:.3f} m/s")

rougher = ra.run("snake", "serpenoid", duration=5, settings={"friction.mu_along": 0.5})
print(f"speed with mu_along 0.5 {rougher.metrics['speed']:.3f} m/s")

mujoco = ra.run("snake", "serpenoid", engine="mujoco", duration=5)  # or "dart"
gap = np.linalg.norm(mujoco.trajectory.position[-1] - reference.trajectory.position[-1])
print(f"mujoco ends {1e3 * gap:.2g} mm from the reference")
