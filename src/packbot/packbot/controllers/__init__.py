"""Controllers of the arm: reaching, also with failed joints, and teleoperation by velocities."""
