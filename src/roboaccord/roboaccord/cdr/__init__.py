"""Fast codecs between the core's types and the bytes of ROS messages.

Messages of every tick have codecs in codecs.py, others pairs of functions in messages.py; wire.py
has the wire format for both. Messages may be added; names for nodes and bags are lines of
`__init__.pyi` and stay (test_door). Invariants: bytes are fixed by ROS, and test_cdr
(src/roboaccord/test) compares each message with rosbags' own; times are exact.

Generic conversion of a JointState takes about 25 us in each direction in Python, which limits
lockstep to some 1,100 ticks a second; these codecs take 1 to 3 us and write the same bytes.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
