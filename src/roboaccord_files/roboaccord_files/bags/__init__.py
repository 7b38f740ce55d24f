"""Bags of others: in sqlite3 or zstd (storages.py), and cut or damaged ones, made valid again.

recover.py makes them valid, export.py writes a run to CSV, NPZ and MAT, command.py has both
commands. The core reads plain MCAP, up to where a file ends or is damaged
(roboaccord/bag/records.py).
"""
