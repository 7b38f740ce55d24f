"""The friction that a robot has in Gazebo, where links may touch the ground with other shapes.

In Gazebo a robot may touch the ground with spheres, say, instead of its links' true shapes, and
then has another law of friction. The shapes, and the law of each, are stated by the robot
(`GazeboHooks.contact_shapes`). Cross-checks of runs that were recorded in Gazebo compare with the
setup that `by_contacts` makes (test_gazebo_twin).
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
