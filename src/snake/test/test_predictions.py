"""Many short motions by one call of a kernel: the same bits as one after the other."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from roboaccord import Command, Trajectory
from roboaccord.contract.state import STATE_ARRAYS
from roboaccord.crosscheck.columns import state_difference
from roboaccord.engines.twin import twin_of
from roboaccord.numerics.rotations import (
    quaternion_matrix,
    quaternion_product,
    rotation_vector,
    turn_quaternion,
)
from roboaccord.run.loop import make_simulator

COUNT = 6  # motions
FIXTURE = settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.mark.parametrize("engine", ["reference", "dart", "mujoco"])
@FIXTURE
@given(seed=st.integers(0, 2**32 - 1))
def test_predictions_are_resets_and_steps(setup_with, random_state, engine, seed):
    """Joints start near and beyond their stops, too; a phase may have no step at all."""
    setup = setup_with("friction={points: corners}")
    simulator = make_simulator(setup, engine if engine == "reference" else twin_of(engine))
    rng, joints = np.random.default_rng(seed), setup.joints
    drawn = [random_state(setup, rng, spread=1.3) for _ in range(2 * COUNT)]
    starts, held = (
        Trajectory.from_states(joints, [replace(s, effort=e, time=rng.uniform()) for s, e in each])
        for each in (drawn[:COUNT], drawn[COUNT:])
    )
    phases = [
        [round(setup.scenario.physics_step * int(count), 9) for count in rng.integers(0, 4, COUNT)]
        for _ in range(2)
    ]
    ends, stopped = simulator.predict(starts, (held, phases[0]), (starts, phases[1]))
    for i in range(COUNT):
        state = simulator.reset(starts.state(i))
        for commands, lasting in zip((held, starts), phases, strict=True):
            if lasting[i]:
                state = simulator.step(Command(commands.effort[i]), lasting[i])
        assert state.time == ends.time[i]
        assert stopped[i] == simulator.stopped
        for name in STATE_ARRAYS:
            np.testing.assert_array_equal(getattr(ends, name)[i], getattr(state, name))


@FIXTURE
@given(seed=st.integers(0, 2**32 - 1), size=st.sampled_from([0.0, 1e-15, 1e-6, 0.1, 3.1]))
def test_differences_of_many_are_those_of_one_and_one(setup_with, random_state, seed, size):
    """Turns as the matrices have them, to 1e-15 of round-off and a turn's own rounding."""
    setup, rng = setup_with(), np.random.default_rng(seed)
    one, _ = random_state(setup, rng)
    turn = turn_quaternion(size * rng.normal(size=3) / 3.0)
    other = replace(one, orientation=quaternion_product(turn, one.orientation), q=2.0 * one.q)
    runs = (Trajectory.from_states(setup.joints, [each] * 2) for each in (one, other))
    apart = state_difference(*runs)
    np.testing.assert_array_equal(apart, [state_difference(one, other)] * 2)
    both = (quaternion_matrix(each.orientation) for each in (other, one))
    expected = rotation_vector(next(both) @ next(both).T)
    np.testing.assert_allclose(apart[0, -9:-6], expected, rtol=0, atol=4e-15)
