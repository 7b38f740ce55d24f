"""Bags: rosbag2 MCAP files of runs, written during a run and readable even if it was cut.

Inside are, for writing: names of topics and what is stated about a run (topics, run_facts), the
recorder (writer), its thread (spool), the bag and its MCAP file (storage, mcap_writer). For
reading: MCAP records, checked (frames, records, unpacking), the folder and its metadata (folder,
metadata), messages (content, rows, typestore), and runs (reader). Further: comparison of runs
(compare, resampling, columns), and messages of transforms, contacts, targets and a second robot
(transforms, contact_markers, targets, second_robot).

What is recorded may be extended, beginning with topics.py. What must stay: existing bags are
readable, trajectories are read back bit for bit with equal hashes, and names in `__init__.pyi`, for
nodes, viewers and pages (test_door). Tests: src/roboaccord/test (test_bag, test_damage,
test_foreign, test_writers, test_compare, test_resample).
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
