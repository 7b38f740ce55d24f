"""Checks of what is given to Gazebo Sim: worlds, models, systems, topics and bridges.

Nothing here may start Gazebo, for this must work where there is none. `accord check` is in `rules`,
whose files are robots'; systems of Gazebo are listed in systems.yaml.
"""
