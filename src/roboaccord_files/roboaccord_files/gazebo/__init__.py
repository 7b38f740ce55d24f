"""Checks of what is given to Gazebo Sim: worlds, models, systems, topics and bridges.

check.py has the rules beyond sdformat's own, schema.py its checker and its schema of elements,
shipped.py what ships, files.py which files are for Gazebo and how problems are shown. The command
is `accord check` of rules/.

Systems, topics and types of the bridge are rows of systems.yaml, and may be added without code.
What must stay: nothing here starts Gazebo, for this must work where there is none. Tests:
test_checks.py in src/roboaccord_files/test, and test_worlds.py in test/, by which all that ships
passes.
"""
