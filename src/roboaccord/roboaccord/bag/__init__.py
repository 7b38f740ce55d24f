"""Bags: rosbag2 MCAP files of runs, written as the run goes, and readable even when it was cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.bag import topics as topics
    from roboaccord.bag.reader import BagRun as BagRun
    from roboaccord.bag.reader import play as play
    from roboaccord.bag.reader import read_run as read_run
    from roboaccord.bag.second import Look as Look
    from roboaccord.bag.second import decode_looks as decode_looks
    from roboaccord.bag.second import read_pair as read_pair
    from roboaccord.bag.targets import decode_change as decode_change
    from roboaccord.bag.targets import encode_target as encode_target
    from roboaccord.bag.topics import REFERENCE as REFERENCE
    from roboaccord.bag.topics import SECOND as SECOND
    from roboaccord.bag.topics import TF as TF
    from roboaccord.bag.topics import TF_STATIC as TF_STATIC
    from roboaccord.bag.topics import Topic as Topic
    from roboaccord.bag.topics import facts as facts
    from roboaccord.bag.topics import first_messages as first_messages
    from roboaccord.bag.topics import input_topics as input_topics
    from roboaccord.bag.topics import optional_topics as optional_topics
    from roboaccord.bag.topics import reference_topics as reference_topics
    from roboaccord.bag.topics import run_topics as run_topics
    from roboaccord.bag.topics import switch_topic as switch_topic
    from roboaccord.bag.transforms import PERIOD as PERIOD
    from roboaccord.bag.transforms import ContactMarkers as ContactMarkers
    from roboaccord.bag.transforms import RobotTransforms as RobotTransforms
    from roboaccord.bag.transforms import contact_finder as contact_finder
    from roboaccord.bag.transforms import read_arrows as read_arrows
    from roboaccord.bag.writer import TF_PERIOD as TF_PERIOD
    from roboaccord.bag.writer import BagWriter as BagWriter

__getattr__, __dir__, __all__ = lazy_names(__name__)
