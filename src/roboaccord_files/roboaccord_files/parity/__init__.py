"""Show what engines read from a robot's file, and whether two files describe the same robot.

Each engine (DART, MuJoCo, Drake, SDFormat) has a reader, which parses a file as the engine does.
Its reading is compared with that of a reference, the analytical model of this project.

For one file in all engines, from below: words.py (codes and texts), result.py, lumps.py (links that
engines merge), compare.py (a reading against the reference), bench.py (lets engines read texts of
one robot), ablation.py and properties.py (causes of differences), uncompared.py (what is listed
only), the levels reading.py and shipped.py, answers.py (one robot), collection.py (many, in
separate processes), repaired.py. shown.py, page.py, figure.py and junit.py show the result.
sdformat.py is the reader of SDFormat, with frames.py; the others come with their engines, by entry
points.

For two files: rigid_bodies.py, poses.py and placing.py (which body is which, and its pose),
pair_differences.py, pair_comparison.py, pair.py (the result), pair_shown.py. door.py (the function
`ra.parity`) and command.py (the command `accord parity`) come first.

Names in result.py and pair.py are keys of the JSON, and stay. The verdict depends on the comparison
alone. Tests: test_parity.py, test_pair.py, test_readings.py, test_degrees.py and
test_native_files.py in src/roboaccord_files/test.
"""
