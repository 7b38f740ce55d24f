"""Fast codecs between the core's types and the bytes of ROS messages.

Names for nodes and bags may be added, as lines of `__init__.pyi` (test_door); those there stay.
Bytes are fixed by ROS: test_cdr compares each message with rosbags' own. A message of every tick
gets a codec in codecs.py, any other a pair of functions in messages.py; wire.py serves both.

Generic conversion of a JointState costs about 25 us in each direction in Python, which bounds
lockstep to some 1,100 ticks a second; these take 1 to 3 us, and write the same bytes.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
