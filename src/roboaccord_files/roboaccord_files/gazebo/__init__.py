"""Check what is given to Gazebo Sim: worlds, models, systems, topics and bridges.

check.py has the rules beyond sdformat's own, schema.py sdformat's checker and its schema of
elements, shipped.py the files that this project ships, files.py finds the files and shows problems.
The command is `accord check` (rules/command.py). Nothing here starts Gazebo: the checks run on
machines without it.

Systems, topics and types of the bridge are rows of systems.yaml. Tests: test_checks.py in
src/roboaccord_files/test, and test_worlds.py in test/, by which all shipped files pass.
"""
