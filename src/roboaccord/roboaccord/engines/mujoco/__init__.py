"""MuJoCo behind the Simulator interface."""
