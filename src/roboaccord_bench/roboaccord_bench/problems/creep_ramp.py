"""A box on a ramp that friction holds: how fast it creeps down."""

from roboaccord_bench.ramp import Creep, box_on_ramp
from roboaccord_bench.scene import Scene

MU, SLOPE = 0.5, 0.3  # a pyramid at 45 degrees slides from 0.354 on


class CreepRamp(Creep):
    """Creep of a box on a ramp, at 0.6 of the slope from which it slides.

    Where friction is soft, as in MuJoCo, the box creeps with R f / b, whatever the step: f is the
    friction of a contact, b = 2 / (d_max time constant) of solref and solimp, and R =
    (1 - d) / (d impratio m), times 1 + mu^2 for a pyramid whose edges all press.
    """

    figure = "creep of a box on a ramp, at 0.6 of the slope from which it slides"
    source = "0: Coulomb's law on an inclined plane"
    advice = "Choose a solver whose friction is hard, or raise MuJoCo's impratio."

    def scene(self, **case: float) -> Scene:
        """Return a flat box on a ramp that falls towards the heading."""
        return box_on_ramp((0.4, 0.4, 0.1), MU, SLOPE, **case)


PROBLEM = CreepRamp()
