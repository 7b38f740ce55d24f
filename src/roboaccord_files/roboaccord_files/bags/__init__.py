"""Bags of others: in sqlite3 or zstd (storages.py), and cut or damaged ones, made valid again.

recover.py makes them valid, command.py is `accord recover`. The core reads plain MCAP, up to where
a file ends or is damaged (roboaccord/bag/records.py).
"""
