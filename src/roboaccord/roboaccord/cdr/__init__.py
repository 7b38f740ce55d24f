"""Fast codecs between the core's types and the bytes of ROS messages.

Generic conversion of a JointState costs about 25 us each way in Python, which bounds lockstep to
some 1,100 ticks a second; these take 1 to 3 us, and write the same bytes.
"""

from roboaccord.cdr.codecs import (
    TRUE,
    EffortCodec,
    JointStateCodec,
    OdometryCodec,
    read_joint_state,
)
from roboaccord.cdr.messages import (
    Status,
    decode_bool,
    decode_clock,
    decode_events,
    decode_statuses,
    decode_string,
    decode_twist,
    decode_wrench,
    encode_bool,
    encode_clock,
    encode_contacts,
    encode_events,
    encode_statuses,
    encode_string,
    encode_surfaces,
    encode_twist,
    encode_wrench,
)
from roboaccord.cdr.wire import HEADER, CdrReader, CdrWriter, stamp, unstamp

__all__ = [
    "HEADER",
    "TRUE",
    "CdrReader",
    "CdrWriter",
    "EffortCodec",
    "JointStateCodec",
    "OdometryCodec",
    "Status",
    "decode_bool",
    "decode_clock",
    "decode_events",
    "decode_statuses",
    "decode_string",
    "decode_twist",
    "decode_wrench",
    "encode_bool",
    "encode_clock",
    "encode_contacts",
    "encode_events",
    "encode_statuses",
    "encode_string",
    "encode_surfaces",
    "encode_twist",
    "encode_wrench",
    "read_joint_state",
    "stamp",
    "unstamp",
]
