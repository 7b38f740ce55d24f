"""Fast codecs between the core's types and the bytes of ROS messages.

Generic conversion of a JointState costs about 25 us in each direction in Python, which bounds
lockstep to some 1,100 ticks a second; these take 1 to 3 us, and write the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.cdr.codecs import TRUE as TRUE
    from roboaccord.cdr.codecs import EffortCodec as EffortCodec
    from roboaccord.cdr.codecs import JointStateCodec as JointStateCodec
    from roboaccord.cdr.codecs import OdometryCodec as OdometryCodec
    from roboaccord.cdr.codecs import read_joint_state as read_joint_state
    from roboaccord.cdr.messages import Status as Status
    from roboaccord.cdr.messages import decode_bool as decode_bool
    from roboaccord.cdr.messages import decode_events as decode_events
    from roboaccord.cdr.messages import decode_statuses as decode_statuses
    from roboaccord.cdr.messages import decode_string as decode_string
    from roboaccord.cdr.messages import decode_wrench as decode_wrench
    from roboaccord.cdr.messages import encode_bool as encode_bool
    from roboaccord.cdr.messages import encode_clock as encode_clock
    from roboaccord.cdr.messages import encode_contacts as encode_contacts
    from roboaccord.cdr.messages import encode_events as encode_events
    from roboaccord.cdr.messages import encode_statuses as encode_statuses
    from roboaccord.cdr.messages import encode_string as encode_string
    from roboaccord.cdr.messages import encode_surfaces as encode_surfaces
    from roboaccord.cdr.messages import encode_wrench as encode_wrench
    from roboaccord.cdr.wire import HEADER as HEADER
    from roboaccord.cdr.wire import CdrReader as CdrReader
    from roboaccord.cdr.wire import CdrWriter as CdrWriter
    from roboaccord.cdr.wire import stamp as stamp
    from roboaccord.cdr.wire import unstamp as unstamp

__getattr__, __dir__, __all__ = lazy_names(__name__)
