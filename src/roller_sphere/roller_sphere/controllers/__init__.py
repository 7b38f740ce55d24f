"""Controllers that drive the ball by its rollers."""
