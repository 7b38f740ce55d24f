"""Reference simulators of the ball, its engines, and figures of its runs."""
