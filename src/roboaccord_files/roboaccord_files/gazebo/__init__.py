"""Checks of what is given to Gazebo Sim: worlds, models, systems, topics and bridges.

Nothing here may start Gazebo, for this must work where there is none. command.py is `accord check`,
of which `rules` adds the modes for robots' files; systems of Gazebo are listed in systems.yaml.
"""
