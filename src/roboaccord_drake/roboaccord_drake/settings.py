"""Settings of Drake, as a scenario's `engine_options` has them.

A setting may be added: a field of `DrakeSettings` with its check; `accord scenario` lists it. An
integrator is an entry of ORDERS, with the order of its error, on which the cross-check relies and
which must be true, and a branch of `_substeps` in simulator.py.
"""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.contract import check_known

ORDERS = {"discrete": 1, "rk4": 4}  # of the error in the step


@dataclass(frozen=True)
class DrakeSettings:
    """The integrator of Drake's equations.

    Args:
        integrator: `discrete` is Drake's discrete plant, which has joint stops; `rk4` the
            Runge-Kutta method of order 4 on its continuous plant, which has neither stops nor mimic
            joints.

    Raises:
        AccordError: for another one.
    """

    integrator: str = "discrete"

    def __post_init__(self) -> None:
        name = str(self.integrator).lower()
        check_known("unknown integrator ", name, ORDERS)
