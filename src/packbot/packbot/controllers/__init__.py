"""Controllers of the arm: reaching, and teleoperation by joint velocities."""
