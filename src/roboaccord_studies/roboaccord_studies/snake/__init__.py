"""Studies of the snake: the best gait for a ground, and the pictures of its pages.

ideal                  the gait tracked ideally: figures of a gait in milliseconds
compass, optimise      search of the best gait, small steps at a time or globally
estimator, adaptive    a controller that measures the ground and searches a gait for it
gait, adapt, figures   commands; cli/optimise is one, too

Studies are added as modules here and commands in setup.cfg. What the blog post shows stays in
`snake`. Names of commands, options and JSON keys stay. Tests are in test/snake_studies.
"""
