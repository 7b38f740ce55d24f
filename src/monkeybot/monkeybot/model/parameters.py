"""Physical parameters of the MonkeyBot, which config/parameters.yaml declares.

`MonkeyBotParameters` has the robot's parameters by link A and B; its base class fills the fields
from the file. `Row` has the same numbers for the kernels, ordered by the link that is held and the
other one.

Each value in config/parameters.yaml names its source. Masses, lengths and inertia are those of the
robot gibbot and of the report, and stay, as does the friction of 0; values marked "assumed" may be
changed. A new parameter for kernels needs an entry there, in the docstring below, in Row and in
`row`.
"""

from typing import NamedTuple

from roboaccord.contract import check_positive
from roboaccord.description import Parameters


class Row(NamedTuple):
    """Parameters as the kernels take them; the held link is first, the other second.

    Attributes:
        m1, i1, l1, r1: mass [kg], inertia [kg m^2] and length [m] of the held link, and its centre
            of gravity from the held hand [m].
        m2, i2, l2, r2: those of the other link, with its centre of gravity from the elbow.
        gravity: [m/s^2].
        viscous_1, viscous_2: friction of the held hand and of the elbow [N m s/rad].
        dry_1, dry_2: dry friction there [N m].
        dry_speed: rate below which the dry friction falls to 0 [rad/s].
        rotor: inertia that the drive adds at the elbow [kg m^2].
    """

    m1: float
    i1: float
    l1: float
    r1: float
    m2: float
    i2: float
    l2: float
    r2: float
    gravity: float
    viscous_1: float
    viscous_2: float
    dry_1: float
    dry_2: float
    dry_speed: float
    rotor: float


class MonkeyBotParameters(Parameters):
    """MonkeyBot's parameters, in SI units; link A has hand A, link B has hand B.

    Attributes:
        mass_a, mass_b: of the links [kg].
        inertia_a, inertia_b: about the links' centres of gravity [kg m^2].
        length_a, length_b: from hand to elbow [m].
        centre_a: from hand A to the centre of gravity of link A, r1 of the report [m].
        centre_b: from the elbow to the centre of gravity of link B, r2 of the report [m].
        gravity: along the wall, downwards [m/s^2].
        effort_limit: of the motor at the elbow [N m].
        viscous_hand, viscous_elbow: friction of the held hand and the elbow [N m s/rad].
        constant_hand, constant_elbow: dry friction there [N m].
        friction_speed: joint rate below which the dry friction falls to 0 [rad/s].
    """

    def check(self) -> None:
        """Refuse values that make no robot."""
        of_links = ("mass_a", "mass_b", "inertia_a", "inertia_b", "length_a", "length_b")
        names = (*of_links, "effort_limit", "friction_speed")
        check_positive({name: getattr(self, name) for name in names})
        for link in "ab":
            centre, length = getattr(self, f"centre_{link}"), getattr(self, f"length_{link}")
            if not 0 <= centre <= length:
                where = f"outside link {link.upper()} of length {length:g} m"
                raise ValueError(f"centre_{link} is {centre:g} m, {where}")
        for name in ("viscous_hand", "viscous_elbow", "constant_hand", "constant_elbow", "gravity"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative")

    @property
    def mass(self) -> float:
        """Mass of the whole robot [kg]."""
        return self.mass_a + self.mass_b

    @property
    def frictionless(self) -> bool:
        """True if no joint has friction, so that only motor and impacts change the energy."""
        return not any(self._joint_friction)

    @property
    def _joint_friction(self) -> tuple[float, float, float, float]:
        """Viscous friction of hand and elbow [N m s/rad], and dry friction of both [N m]."""
        return self.viscous_hand, self.viscous_elbow, self.constant_hand, self.constant_elbow

    def row(self, hand: int = 0, rotor: float = 0.0) -> Row:
        """Return the kernels' arguments (15,), with the link of hand A (0) or B (1) first.

        With hand B first, the links change places: the centre of gravity of link B is L2 - r2 from
        its hand, and that of link A is L1 - r1 from the elbow. `rotor` is an inertia that the drive
        adds at the elbow [kg m^2].
        """
        a = (self.mass_a, self.inertia_a, self.length_a)
        b = (self.mass_b, self.inertia_b, self.length_b)
        if hand == 0:
            links = (*a, self.centre_a, *b, self.centre_b)
        else:
            links = (*b, self.length_b - self.centre_b, *a, self.length_a - self.centre_a)
        return Row(*links, self.gravity, *self._joint_friction, self.friction_speed, rotor)

    @property
    def rows(self) -> tuple[Row, Row]:
        """Arguments of the kernels, with hand A first and with hand B first."""
        # Tuples, because numba counts references to arrays: an event's value took 40 ns, not 9.
        return self.row(0), self.row(1)
