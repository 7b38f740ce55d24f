"""Bags: rosbag2 MCAP files of runs, written during a run and readable even if it was cut.

Writing: topics.py (names), writer.py (recorder), spool.py (its thread), storage.py (MCAP). Reading:
frames.py and records.py (MCAP, checked), folder.py and metadata.py, content.py (messages),
reader.py (runs). compare.py and resampling.py compare runs; transforms.py, targets.py and second.py
have further messages. What is recorded may be extended, beginning with topics.py. Invariants:
existing bags stay readable, trajectories are read back bit for bit with equal hashes, and names in
`__init__.pyi`, for nodes, viewers and pages, stay (test_door). Tests: src/roboaccord/test
(test_bag, test_damage, test_foreign, test_writers, test_compare, test_resample).
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
