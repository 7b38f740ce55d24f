"""Bags of others: in sqlite3 or zstd, cut or damaged ones, and exports of runs.

storages.py reads bags in sqlite3 or zstd, recover.py makes a cut or damaged bag valid, export.py
writes a run to CSV, NPZ and MAT, command.py has both commands. The core reads plain MCAP, up to
where a file ends or is damaged (roboaccord/bag/records.py).

Storages, formats of export and losses that are named may be added. What must stay: a damaged file
is kept until the new one is complete, and nothing is lost in silence. Tests: test_recover.py and
test_export.py in src/roboaccord_files/test; test_bag.py and test_damage.py of the core.
"""
