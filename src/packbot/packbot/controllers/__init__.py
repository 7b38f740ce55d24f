"""Controllers of the arm: reaching, also with failed joints, by velocities; trials of them."""
