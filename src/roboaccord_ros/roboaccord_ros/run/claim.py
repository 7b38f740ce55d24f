"""The claim of a launch on its names; imports the standard library alone, for the Python of ROS."""

from __future__ import annotations

import errno
import os
import socket


def claim_names(namespace: str) -> socket.socket:
    """Keep other launches of this machine off the names of this one while what is returned lives.

    DDS takes seconds to discover another simulator on a busy machine; an address is taken at once,
    and freed with its process.

    Raises:
        RuntimeError: if another launch has them.
    """
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0roboaccord/{domain}/{namespace.strip('/')}"[:100])  # abstract: no file
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise RuntimeError(
            f"another launch has the same names in ROS domain {domain}; "
            "set namespace:=NAME, or another ROS_DOMAIN_ID"
        ) from None
    return claim
