"""The services by which switches are set, in a simulator or in Gazebo's adapter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from rclpy.node import Node
from roboaccord.contract.state import NO_SWITCHES
from std_srvs.srv import SetBool


class SwitchServices:
    """Offer `/R/SWITCH/set` of each switch; what is asked for acts with the next command.

    Args:
        node, robot: where it lives.
        names: of the switches.
    """

    def __init__(self, node: Node, robot: str, names: Iterable[str]) -> None:
        self._asked: dict[str, bool] = {}
        for name in names:
            node.create_service(SetBool, f"{robot}/{name}/set", partial(self._set, name))

    def take(self) -> Mapping[str, bool]:
        """Return what was asked for since the last call."""
        if not self._asked:
            return NO_SWITCHES
        asked, self._asked = self._asked, {}
        return asked

    def _set(self, name: str, request: Any, response: Any) -> Any:
        self._asked[name] = bool(request.data)
        response.success = True
        return response
