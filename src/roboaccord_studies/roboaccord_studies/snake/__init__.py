"""Studies of the snake: the best gait for a ground, and the pictures of its pages."""
