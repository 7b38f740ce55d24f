"""Studies of the snake: the best gait for a ground, and the pictures of its pages.

Studies may be added, as modules here and commands in setup.cfg; what the blog post shows must stay
in `snake`.
"""
