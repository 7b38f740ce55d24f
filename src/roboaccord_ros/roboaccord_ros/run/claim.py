"""Claims on names of this machine; imports the standard library alone, for the Python of ROS.

Nothing here is to be tuned. To keep two processes of this machine apart in another respect, let
both `claim` the same text; launches do so by `claim_names`, private domains in run/domain.py. No
import beside the standard library is allowed (test_launch), for `ros2 launch` imports this in the
Python of ROS.

DDS takes seconds to discover another run on a busy machine; an address is taken at once, and freed
with its process. It is abstract: there is no file.
"""

from __future__ import annotations

import errno
import os
import socket


def claim(name: str) -> socket.socket | None:
    """Return a claim on a name, which lasts while it lives; None where another process has it."""
    claimed = socket.socket(socket.AF_UNIX)
    try:
        claimed.bind(f"\0roboaccord/{name}"[:100])
    except OSError as error:
        claimed.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return claimed


def claim_names(namespace: str) -> socket.socket:
    """Keep other launches of this machine off the names of this one while what is returned lives.

    Raises:
        RuntimeError: if another launch has them.
    """
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    claimed = claim(f"{domain}/{namespace.strip('/')}")
    if claimed is None:
        cure = "set namespace:=NAME, or another ROS_DOMAIN_ID"
        raise RuntimeError(f"another launch has the same names in ROS domain {domain}; {cure}")
    return claimed
