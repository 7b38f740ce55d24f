"""Who takes part in a run: the nodes that must receive its messages (peers), and other simulators.

A run starts only when everybody who must receive its messages is there. `missing_peers` names the
nodes that do not yet receive a publisher's messages. A node that still compiles announces itself
with `announce_preparing`, and `preparing_nodes` lists such nodes. `check_for_rival` detects another
simulator that publishes under the same names, and `refuse_mixed` messages of two publishers. At the
end, `deliver` waits until all is received.

RIVAL_CHECKS and DELIVERY may be tuned.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.subscription import Subscription
from roboaccord.contract import AccordError
from std_msgs.msg import Empty

from roboaccord_ros.graph.names import CLOCK, PREPARING

# Number of consecutive checks that may see another simulator, 3 s in all (spinning.POLL): one that
# is ending is gone by then.
RIVAL_CHECKS = 60
# s: longest wait for delivery at the end of a run; Fast DDS asks for lost messages within 3 s.
DELIVERY = 4.0


def missing_peers(
    node: Node, publisher: Publisher, peers: Sequence[str], *, needs_one: bool = True
) -> list[str]:
    """Return the peers that do not yet receive the messages of a publisher.

    Args:
        node: asks the graph.
        publisher: of the messages.
        peers: names of the nodes that must receive them.
        needs_one: whether at least one subscriber is needed, whatever its name.

    Returns:
        names that are missing; `peers`, or ["a subscriber"], while not every subscriber of the
        graph is connected to the publisher.
    """
    infos = node.get_subscriptions_info_by_topic(publisher.topic_name)
    if (needs_one and not infos) or publisher.get_subscription_count() < len(infos):
        return list(peers) or ["a subscriber"]
    present = {info.node_name for info in infos}
    return [peer for peer in peers if peer not in present]


def announce_preparing(node: Node, robot: str) -> Publisher:
    """Return a publisher that makes a run wait for a node that compiles, until it is destroyed."""
    return node.create_publisher(Empty, f"{robot}/{PREPARING}", 1)


def preparing_nodes(node: Node, robot: str) -> list[str]:
    """Return the names of the nodes that still compile, by what they announce."""
    topic = node.resolve_topic_name(f"{robot}/{PREPARING}")
    return sorted({info.node_name for info in node.get_publishers_info_by_topic(topic)})


def unreached_topic(node: Node, publishers: Iterable[Publisher]) -> str:
    """Return the first topic that a subscriber does not receive yet, or ""."""
    topics = (p.topic_name for p in publishers if missing_peers(node, p, (), needs_one=False))
    return next(topics, "")


def refuse_mixed(topic: Subscription, bag: str) -> None:
    """Refuse messages that are not in order if two nodes publish the topic; `bag` ends there.

    Raises:
        AccordError: that names the topic.
    """
    if (count := topic.get_publisher_count()) > 1:
        mixed = f"{topic.topic_name}, and their states are mixed; {bag} ends there"
        raise AccordError(f"{count} nodes publish {mixed}")


def deliver(*publishers: Publisher) -> None:
    """Wait until all subscribers have received what publishers sent, at most DELIVERY in all.

    The limit is for subscribers that were killed: these never confirm.
    """
    deadline = time.monotonic() + DELIVERY
    for publisher in publishers:
        publisher.wait_for_all_acked(Duration(seconds=max(deadline - time.monotonic(), 0.0)))


class RivalError(AccordError):
    """Another simulator publishes topics of the same names."""

    def __init__(self, node: Node) -> None:
        super().__init__(
            f"another simulator publishes {node.resolve_topic_name(CLOCK)} in this ROS domain; "
            "set namespace:=NAME, or another ROS_DOMAIN_ID"
        )


def count_clocks(node: Node) -> int:
    """Return the number of publishers of the clock in the namespace of a node."""
    return len(node.get_publishers_info_by_topic(CLOCK))


def check_for_rival(node: Node, checks: int) -> int:
    """Check for another simulator, and return how many checks in a row have seen one.

    Args:
        node: asks the graph.
        checks: what this function returned before, 0 at first.

    Raises:
        RivalError: if it is seen more than RIVAL_CHECKS times, so it is not about to end.
    """
    checks = checks + 1 if count_clocks(node) > 1 else 0
    if checks > RIVAL_CHECKS:
        raise RivalError(node)
    return checks
