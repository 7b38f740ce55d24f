"""Fast codecs between the core's types and the bytes of ROS messages.

    wire                         CDR, the wire format of ROS 2
    codecs                       messages that are sent at every control tick
    messages                     occasional messages

Generic conversion of a JointState takes about 25 us in each direction in Python. In lockstep, where
simulator and controller wait for each other, that would limit a run to some 1,100 ticks per second.
These codecs take 1 to 3 us and write the same bytes.

Messages may be added. The bytes, which ROS defines (test_cdr in src/roboaccord/test compares each
message with that of rosbags), exact times, and the names in `__init__.pyi` (test_door) must stay.
"""

from roboaccord.numerics.lazy import lazy_names

# The names of `__init__.pyi`, each imported on first access.
__getattr__, __dir__, __all__ = lazy_names(__name__)
