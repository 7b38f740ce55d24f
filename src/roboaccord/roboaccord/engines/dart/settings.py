"""Settings of DART: the keys below `engine_options.dart` of a scenario.

A scenario's values become a `DartSettings`, which refuses wrong ones; simulator.py and skeleton.py
put them into effect. To add a setting, add a field with a default, DART's own if it has one, and a
line under `Args:`; the option `--set` accepts it at once. Existing names and defaults stay: they
are in scenarios and published figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from roboaccord.contract.errors import AccordError, check_known, check_switch

# Contact solvers that `choose_solver` of skeleton.py knows.
SOLVERS = ("dantzig", "nsgs", "fbf")


@dataclass(frozen=True)
class DartSettings:
    """Direction of DART's axes, and how it solves for contacts.

    Args:
        z_axis: direction of DART's z axis in the world. It matters for `dantzig`, whose friction
            cone is a box along DART's axes, and not for the other solvers.
        friction_solver: `dantzig`, DART's default; `nsgs`, a nonsmooth Gauss-Seidel method; or
            `fbf`, forward-backward-forward splitting. The last two have Coulomb's exact cone.
        friction_iterations: largest number of iterations of `nsgs` and `fbf`.
        split_impulse: whether penetrations are corrected separately, without adding to velocities.

    Raises:
        AccordError: for a value that DART does not take.
    """

    z_axis: Sequence[float] = (0.0, 0.0, 1.0)
    friction_solver: str = "dantzig"
    friction_iterations: int = 100
    split_impulse: bool = False

    def __post_init__(self) -> None:
        """Refuse values that DART does not take."""
        solver = str(self.friction_solver)
        check_known("unknown engine_options.dart.friction_solver ", solver, SOLVERS)
        if not (isinstance(self.friction_iterations, int) and self.friction_iterations > 0):
            wrong = f"{self.friction_iterations}, and must be a whole number above 0"
            raise AccordError(f"engine_options.dart.friction_iterations is {wrong}")
        check_switch("engine_options.dart.split_impulse", self.split_impulse)
