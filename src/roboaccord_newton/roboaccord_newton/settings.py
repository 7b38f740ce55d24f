"""Settings of Newton in the `engine_options` of a scenario: its solver, and its joint stops."""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.contract import AccordError, check_known

SOLVERS = ("featherstone", "xpbd")


@dataclass(frozen=True)
class NewtonSettings:
    """Solver of Newton, and what it needs.

    Args:
        solver: `featherstone`, in coordinates of the joints; or `xpbd`, in which joints are
            constraints between bodies.
        iterations: of XPBD in each physics step.
        stop_stiffness, stop_damping: of joint stops, which are springs [N m/rad or N/m] with
            dampers [N m s/rad or N s/m]. Newton's own are 1e4 and 10, which 40 N push by 4 mm.

    Raises:
        AccordError: for a value that Newton does not take.
    """

    solver: str = "featherstone"
    iterations: int = 2
    stop_stiffness: float = 1e5
    stop_damping: float = 300.0

    def __post_init__(self) -> None:
        """Check the values."""
        check_known("unknown engine_options.newton.solver ", str(self.solver), SOLVERS)
        if self.iterations < 1:
            raise AccordError("engine_options.newton.iterations must be 1 at least")
        if min(self.stop_stiffness, self.stop_damping) < 0.0:
            raise AccordError("engine_options.newton: stops have no negative stiffness or damping")
