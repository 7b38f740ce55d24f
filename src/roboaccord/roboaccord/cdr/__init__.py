"""Fast codecs between the core's types and the bytes of ROS messages.

CDR is the wire format of ROS 2. Inside are: the format itself (wire), codecs of the messages of
every tick (codecs), and pairs of functions for occasional messages (messages). Generic conversion
of a JointState takes about 25 us in each direction in Python, which limits lockstep, where
simulator and controller wait for each other, to some 1,100 ticks a second; these codecs take 1 to 3
us and write the same bytes.

Messages may be added. What must stay: the bytes, which ROS fixes (test_cdr in src/roboaccord/test
compares each message with rosbags' own), exact times, and the names in `__init__.pyi` (test_door).
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
