"""Show a robot's motion: a moving picture without a display, and a live view in the browser."""
