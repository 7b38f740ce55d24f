"""The integrator of references that are given by their equations of motion."""

import numpy as np
import pytest
import toy_robot
from roboaccord import AccordError, Command, JointSpaceReference, RobotState

IDLE = Command(np.zeros(2))


class Oscillator(JointSpaceReference):
    """Two oscillators, qdd = -k q with k = 1 and 4, pushed by their efforts."""

    def joint_accelerations(self, q, qd, effort):
        return effort - np.array([1.0, 4.0]) * q

    def masses(self):
        return {}


@pytest.fixture
def setup(tmp_path):
    """Return a setup of the toy robot, of whose joints the second has stops at 0.5 m."""
    toy_robot.install(tmp_path)
    path = tmp_path / "share" / toy_robot.ROBOT.package / "urdf" / "toy.urdf.xacro"
    axis = '<axis xyz="0 1 0"/>'
    text = toy_robot.URDF.replace(axis, f'{axis}<limit lower="-0.5" upper="0.5"/>')
    path.write_text(text, encoding="utf-8")
    return toy_robot.make_setup().at_step(0.01)


def state(q, qd=(0.0, 0.0)):
    """Return a state of both joints at t = 0."""
    return RobotState(0.0, np.array(q), np.array(qd), np.zeros(2))


def test_the_integrator_is_of_order_four(setup):
    """Against cos t and cos 2 t / 4: half the step, a sixteenth of the error."""
    errors = []
    for step in (0.05, 0.025):
        reference = Oscillator(setup.at_step(step))
        reference.reset(state([1.0, 0.25]))
        found = reference.step(IDLE, 1.0)
        assert found.time == 1.0
        errors.append(np.abs(found.q - [np.cos(1.0), 0.25 * np.cos(2.0)]))
    assert np.log2(errors[0] / errors[1]) == pytest.approx([4.0, 4.0], abs=0.1)


def test_efforts_are_clipped_to_their_limits(setup):
    """The limit of the toy is 1: both oscillators rest where the springs hold that."""
    reference = Oscillator(setup)
    reference.reset(state([1.0, 0.25]))
    found = reference.step(Command(np.array([7.0, 7.0])), 1.0)
    np.testing.assert_array_equal(found.effort, [1.0, 1.0])
    np.testing.assert_allclose(found.q, [1.0, 0.25], atol=1e-15)


def test_a_joint_that_comes_to_its_stop_is_an_error(setup):
    """Its own equations know of no stop, and engines would stop there."""
    reference = Oscillator(setup)
    reference.reset(state([0.0, 0.45], [0.0, 2.0]))
    reference.step(IDLE, 0.02)
    with pytest.raises(AccordError, match=r"^slide comes to its stop at t = 0\.030000 s"):
        reference.step(IDLE, 0.01)
