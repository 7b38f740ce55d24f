"""The friction that a robot has in Gazebo, where links may touch the ground with other shapes.

Which shapes there are, and the friction law of each, is stated by the robot
(`GazeboHooks.contact_shapes`). Cross-checks of recorded runs compare with the setup that is made
here (test_gazebo_twin).
"""

from __future__ import annotations

from roboaccord.scenario.scenario import Scenario
from roboaccord.scenario.setup import Setup


def by_contacts(setup: Setup, contacts: str) -> tuple[Setup, bool]:
    """Return a setup with the friction law of Gazebo's contacts, and whether there is one.

    Args:
        setup: robot and scenario.
        contacts: key of the robot's `contact_shapes`; for any other the setup is returned as it is.
    """
    law = setup.robot.gazebo.contact_shapes.get(contacts)
    if setup.force_law is None or not law:
        return setup, False
    data = setup.scenario.data()
    data["friction"] = {**data["friction"], **law}
    return Setup.of(Scenario(**data)), True
