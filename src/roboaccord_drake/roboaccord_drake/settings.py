"""The settings of Drake in the `engine_options` of a scenario.

A setting is a field of `DrakeSettings` with its check; `accord scenario` lists it. An integrator is
an entry of ORDERS and a branch of `_substeps` in simulator.py. The cross-check of engines relies on
the order of the error that ORDERS states.
"""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.contract import check_known

ORDERS = {"discrete": 1, "rk4": 4}  # p, where the error falls with the time step as h^p


@dataclass(frozen=True)
class DrakeSettings:
    """The integrator of Drake's equations.

    Args:
        integrator: `discrete` is Drake's discrete plant, which has joint stops; `rk4` is the
            Runge-Kutta method of order 4 on its continuous plant, which has neither stops nor mimic
            joints.

    Raises:
        AccordError: for any other integrator.
    """

    integrator: str = "discrete"

    def __post_init__(self) -> None:
        """Refuse an integrator that is not in ORDERS."""
        check_known("unknown integrator ", str(self.integrator).lower(), ORDERS)
