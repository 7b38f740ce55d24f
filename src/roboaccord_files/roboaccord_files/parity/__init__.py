"""Parity: what engines' own readers make of a robot's file, and whether two files are one robot.

A file in engines, from below: words.py (codes, and all that is said in English), result.py,
compare.py (a reading against the reference, the analytical model), bench.py (an engine asked for
texts of one robot), ablation.py and properties.py (causes), the levels reading.py and shipped.py,
answers.py (one robot), collection.py (many, in processes of their own), repaired.py. sdformat.py is
a reader, as engines have theirs; others come by entry points, without a change here.

Two files: rigid_bodies.py, poses.py and placing.py (which body is which, and where),
pair_differences.py, comparison.py, pair.py (the result), pair_shown.py. door.py and command.py are
`ra.parity` and `accord parity`.

What must stay: names in result.py and pair.py, keys of the JSON; outcomes depend on the comparison
alone. Tests: test_parity.py, test_pair.py, test_readings.py, test_degrees.py and
test_native_files.py in src/roboaccord_files/test.
"""
