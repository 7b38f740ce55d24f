"""Physical parameters of the roller sphere.

config/parameters.yaml declares their values with the sources. The angles of the contacts and axes
are the paper's (section 3); ball and carrier follow RoboCup's rules; values marked "estimate" there
may be changed. A new parameter is added there and in the docstring below, and to POSITIVE if 0
makes no robot.
"""

import numpy as np
from roboaccord.contract import check_positive
from roboaccord.description import Parameters

from roller_sphere.model.rig import Rig

# Names of parameters that must be above 0. Angles are checked by the rig, and gravity may be 0.
POSITIVE = (
    "ball_mass ball_inertia roller_radius roller_mass roller_inertia holder_mass press_force "
    "effort_limit carrier_mass carrier_inertia carrier_force carrier_torque"
).split()


class RollerSphereParameters(Parameters):
    """Parameters of ball, rollers and carrier, in SI units; the base class fills the fields.

    The rollers drive the ball, and the carrier is the robot that dribbles it on the ground. Angles
    of the rig are named as in rig.py.

    Attributes:
        radius, ball_mass, ball_inertia: of the ball [m, kg, kg m^2].
        azimuth_1, azimuth_2, latitude_1, latitude_2: of the contacts, theta_1i and theta_2i [rad].
        alpha_1, alpha_2: of the rollers' axes to the plane of the contacts [rad].
        roller_radius, roller_mass, roller_inertia: of a roller, about its axis [m, kg, kg m^2].
        holder_mass: of the part that carries a roller [kg].
        press_force: of each roller on the ball [N].
        effort_limit: of a roller's motor [N m].
        ball_ahead: from the middle of the carrier to the ball that it dribbles [m].
        carrier_mass, carrier_inertia: of the carrier [kg, kg m^2].
        carrier_force, carrier_torque: limits of its drive [N, N m].
        gravity: [m/s^2].
    """

    def check(self) -> None:
        """Refuse values that make no robot."""
        check_positive({name: getattr(self, name) for name in POSITIVE})
        if min(self.gravity, self.ball_ahead) < 0:
            raise ValueError("gravity and ball_ahead must not be negative")
        _ = self.rig  # is made to check the angles

    @property
    def masses(self) -> dict[str, float]:
        """Mass of each link that a ball in a bearing and one on the ground have [kg]."""
        rollers = {f"roller_{i}_link": self.roller_mass for i in (1, 2)}
        holders = {f"holder_{i}_link": self.holder_mass for i in (1, 2)}
        bodies = {"base_link": self.ball_mass, "carrier_link": self.carrier_mass}
        return bodies | rollers | holders

    @property
    def rig(self) -> Rig:
        """The rig of the paper: contacts and axes of both rollers."""
        azimuths = np.array([self.azimuth_1, self.azimuth_2])
        latitudes = np.array([self.latitude_1, self.latitude_2])
        return Rig(self.radius, azimuths, latitudes, np.array([self.alpha_1, self.alpha_2]))
