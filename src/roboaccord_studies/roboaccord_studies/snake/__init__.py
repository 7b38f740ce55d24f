"""Studies of the snake: the best gait for a ground, and the pictures of its pages.

ideal                  fast evaluation of a gait that the joints follow exactly
compass, optimise      search of the best gait, in small portions or globally
estimator, adaptive    a controller that measures the ground and searches a gait for it
gait, adapt, figures   commands, as is cli/optimise

A study is added as a module here and a command in setup.cfg. What the blog post shows is in the
package `snake`. Names of commands, options and JSON keys stay. Tests are in test/snake_studies.
"""
