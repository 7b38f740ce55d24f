"""Bags in other storages, repair of damaged bags, and export of recorded runs.

storages.py reads bags in sqlite3 or zstd, recover.py makes a cut or damaged bag valid, export.py
writes a run to CSV, NPZ and MAT, and command.py has the commands. The core reads plain MCAP, up to
the end or the damage of a file (roboaccord/bag/records.py).

A damaged file is kept until the new one is complete, and whatever is lost is reported. Tests:
test_recover.py and test_export.py in src/roboaccord_files/test; test_bag.py and test_damage.py of
the core.
"""
