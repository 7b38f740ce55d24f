"""Claims on names of this machine, by which processes avoid each other's names.

A claim is an abstract socket address: it is taken at once, needs no file, and is freed when its
process ends, whereas DDS can take seconds to discover another run. Launches claim their names
(`claim_names`), and runs their private domain (domain.py).

`ros2 launch` imports this module in the Python of ROS, so only the standard library is allowed
(test_launch).
"""

from __future__ import annotations

import errno
import os
import socket

LONGEST = 100  # largest number of characters of an address; Linux allows 108 with the zero byte


def claim(name: str) -> socket.socket | None:
    """Return a claim on a name, valid until the socket is closed; None if another has it."""
    address = socket.socket(socket.AF_UNIX)
    try:
        address.bind(f"\0roboaccord/{name}"[:LONGEST])
    except OSError as error:
        address.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return address


def claim_names(namespace: str) -> socket.socket:
    """Return a claim on the names of a launch in its ROS domain and namespace.

    Raises:
        RuntimeError: if another launch has them.
    """
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    names = claim(f"{domain}/{namespace.strip('/')}")
    if names is None:
        cure = "set namespace:=NAME, or another ROS_DOMAIN_ID"
        raise RuntimeError(f"another launch has the same names in ROS domain {domain}; {cure}")
    return names
