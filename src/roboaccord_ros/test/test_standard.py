"""The services of simulation_interfaces, called by real clients, with right and wrong requests."""

from __future__ import annotations

import math
from collections.abc import Generator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.scenario.controllers import make_controller
from running import or_skip, run_in

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")
pytest.importorskip(
    "simulation_interfaces", reason="simulation_interfaces is not on PyPI; ROS has it by apt"
)

from rclpy.action import ActionClient
from roboaccord_ros.nodes.entities import INVALID_POSE, RefusedError, start_of
from roboaccord_ros.nodes.recorder import RecorderShell
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import (
    EntityCategory,
    EntityFilters,
    EntityState,
    Result,
    SimulationState,
    SimulatorFeatures,
)
from simulation_interfaces.srv import (
    GetEntities,
    GetEntitiesStates,
    GetEntityState,
    GetSimulationState,
    GetSimulatorFeatures,
    ResetSimulation,
    SetEntityState,
    SetSimulationState,
    StepSimulation,
)
from std_srvs.srv import SetBool, Trigger

pytestmark = pytest.mark.thorough
OK, FAILED = Result.RESULT_OK, Result.RESULT_OPERATION_FAILED
UNSUPPORTED, WRONG_STATE = Result.RESULT_FEATURE_UNSUPPORTED, Result.RESULT_INCORRECT_STATE
STOPPED, PLAYING = SimulationState.STATE_STOPPED, SimulationState.STATE_PLAYING
PAUSED, QUITTING = SimulationState.STATE_PAUSED, SimulationState.STATE_QUITTING
CHANGE = SetSimulationState.Response
MOST = 2**64 - 1  # steps; what a client sends for -1
Talk = Generator[Any, Any, None]


class Caller:
    """Calls services of the simulator, from a generator that runs while the graph spins."""

    def __init__(self, graph: Any) -> None:
        self.graph, self.node = graph, graph.node("caller")
        self.goals = ActionClient(self.node, SimulateSteps, "/sim/simulate_steps")
        self._clients: dict[str, Any] = {}

    def ask(self, kind: type, name: str, **fields: Any) -> Generator[Any, Any, Any]:
        """Send a request; return the future of its response."""
        client = self._clients.setdefault(name, self.node.create_client(kind, f"/sim/{name}"))
        while not client.service_is_ready():
            yield None
        return client.call_async(kind.Request(**fields))

    def call(self, kind: type, name: str, **fields: Any) -> Generator[Any, Any, Any]:
        """Send a request, and return the response."""
        return (yield (yield from self.ask(kind, name, **fields)))

    def code(self, kind: type, name: str, **fields: Any) -> Generator[Any, Any, int]:
        """Send a request, and return the code of its result."""
        return (yield from self.call(kind, name, **fields)).result.result

    def set(self, number: int) -> Generator[Any, Any, int]:
        """Ask for a state; return the code of the result."""
        state = SimulationState(state=number)
        return self.code(SetSimulationState, "set_simulation_state", state=state)

    def state(self) -> Generator[Any, Any, int]:
        """Return the state."""
        return (yield from self.call(GetSimulationState, "get_simulation_state")).state.state

    def step(self, steps: int) -> Generator[Any, Any, Any]:
        """Ask for steps; return code and message of the result."""
        result = (yield from self.call(StepSimulation, "step_simulation", steps=steps)).result
        return result.result, result.error_message

    def talk(self, talk: Talk) -> None:
        """Spin the graph while a conversation goes on, which yields futures, or None to wait."""
        waiting, errors = [None], list[BaseException]()

        def look() -> None:
            if errors or (waiting[0] is not None and not waiting[0].done()):
                return
            try:
                waiting[0] = talk.send(waiting[0] and waiting[0].result())
            except StopIteration:
                waiting[0] = SimpleNamespace(done=lambda: False)
            except BaseException as error:
                errors.append(error)
                self.graph.run.stop()

        self.node.create_timer(0.002, look)
        self.graph.spin()
        for error in errors:
            raise error


@pytest.fixture
def caller(graph):
    return Caller(graph)


def paused(graph, setup, engine="reference"):
    """Make simulator and controller of a run that is paused from the beginning."""
    with or_skip():
        shell = graph.simulator(setup, engine=engine)
    graph.controller(setup)
    shell.pacing.pause(True)
    return shell


def started(shell):
    """Wait until the run waits for a step."""
    while not shell.pacing.at_start:
        yield None


def test_the_features_are_those_that_are_offered_and_spawning_is_none(graph, setup_for, caller):
    shell = paused(graph, setup_for())
    names = {
        *("ENTITY_STATE_GETTING", "ENTITY_STATE_SETTING", "SIMULATION_RESET"),
        *("SIMULATION_STATE_GETTING", "SIMULATION_STATE_SETTING", "SIMULATION_STATE_PAUSE"),
        *("STEP_SIMULATION_SINGLE", "STEP_SIMULATION_MULTIPLE", "STEP_SIMULATION_ACTION"),
    }

    def talk() -> Talk:
        answer = yield from caller.call(GetSimulatorFeatures, "get_simulator_features")
        numbers = [getattr(SimulatorFeatures, name) for name in names]
        assert sorted(answer.features.features) == sorted(numbers)
        assert list(answer.features.spawn_formats) == []
        assert f"reference {shell.stepper._simulator.version}" in answer.features.custom_info
        graph.run.stop()

    caller.talk(talk())


def test_states_change_as_the_standard_says_and_leave_the_motion_as_it_is(graph, setup_for, caller):
    setup = setup_for(duration=0.5)
    shell = paused(graph, setup)

    def talk() -> Talk:
        yield from started(shell)
        assert (yield from caller.state()) == PAUSED
        assert (yield from caller.set(PAUSED)) == CHANGE.ALREADY_IN_TARGET_STATE
        for wrong in (SimulationState.STATE_NO_WORLD, SimulationState.STATE_LOADING_WORLD, 9):
            assert (yield from caller.set(wrong)) == CHANGE.INCORRECT_TRANSITION
        assert (yield from caller.set(PLAYING)) == OK
        assert (yield from caller.state()) == PLAYING
        assert (yield from caller.step(1)) == (FAILED, "playing: pause it first")
        assert (yield from caller.set(PAUSED)) == OK
        tick = shell.stepper.tick
        assert (yield from caller.set(STOPPED)) == OK
        assert (yield from caller.state()) == STOPPED
        assert tick > shell.stepper.tick == 0
        assert (yield from caller.step(1)) == (FAILED, "stopped: pause it first")
        assert (yield from caller.set(PAUSED)) == OK
        assert (yield from caller.state()) == PAUSED
        # What we had before calls the same code.
        answer = yield from caller.call(SetBool, "pause", data=False)
        assert answer.success and (yield from caller.state()) == PLAYING

    caller.talk(talk())
    assert shell.result["trajectory_sha256"] == run_in(setup).sha256()


def test_before_its_start_a_run_is_stopped_and_neither_reset_nor_stepped(graph, setup_for, caller):
    graph.simulator(setup_for())  # and no controller

    def talk() -> Talk:
        assert (yield from caller.state()) == STOPPED
        assert (yield from caller.code(ResetSimulation, "reset_simulation")) == WRONG_STATE
        assert (yield from caller.call(Trigger, "reset")).message == "the run has not started"
        assert (yield from caller.step(1)) == (FAILED, "the run has not started")
        assert (yield from caller.code(SetEntityState, "set_entity_state", entity="snake")) == (
            WRONG_STATE
        )
        assert (yield from caller.set(PAUSED)) == OK
        assert (yield from caller.state()) == PAUSED
        assert (yield from caller.set(PLAYING)) == CHANGE.STATE_TRANSITION_ERROR
        graph.run.stop()

    caller.talk(talk())


@pytest.mark.parametrize("engine", ["reference", "dart", "mujoco", "gz"])
def test_a_run_in_steps_is_the_run(graph, setup_for, caller, engine):
    setup = setup_for()
    shell = paused(graph, setup, engine)
    ticks = round(setup.scenario.duration / setup.scenario.control_period)

    def talk() -> Talk:
        yield from started(shell)
        assert (yield from caller.step(0)) == (OK, "")
        assert (yield from caller.call(StepSimulation, "step_simulation")).result.result == OK
        assert shell.stepper.tick == 1 and (yield from caller.state()) == PAUSED
        first = yield from caller.ask(StepSimulation, "step_simulation", steps=49)
        assert (yield from caller.step(1)) == (FAILED, "playing: pause it first")
        assert (yield first).result.result == OK
        assert shell.stepper.tick == 50
        code, why = yield from caller.step(MOST)
        line = f"{ticks - 50} of {MOST} steps were taken: the run is over"
        assert (code, why) == (FAILED, line)

    caller.talk(talk())
    assert shell.result["trajectory_sha256"] == run_in(setup, engine).sha256()


def test_a_step_waits_for_its_command_and_ends_with_a_pause_or_a_reset(graph, setup_for, caller):
    setup = setup_for()
    shell = graph.simulator(setup, peers=())
    shell.pacing.pause(True)
    # A controller that never answers.
    from trajectory_msgs.msg import JointTrajectory

    caller.node.create_publisher(JointTrajectory, "/snake/joint_trajectory", 10)
    states = caller.node.create_subscription  # the run needs one that listens
    from sensor_msgs.msg import JointState

    states(JointState, "/snake/joint_states", lambda _: None, 10)

    def talk() -> Talk:
        while not shell.pacing.started:
            yield None
        for end in (
            caller.set(PAUSED),
            caller.code(ResetSimulation, "reset_simulation"),
            caller.set(STOPPED),
        ):
            yield from caller.set(PAUSED)
            step = yield from caller.ask(StepSimulation, "step_simulation", steps=3)
            assert (yield from caller.state()) == PLAYING and not step.done()
            assert (yield from end) == OK
            result = (yield step).result
            assert result.result == FAILED and "0 of 3 steps were taken: " in result.error_message
        graph.run.stop()

    caller.talk(talk())
    assert shell.stepper.tick == 0


def test_an_action_takes_steps_tells_of_each_and_is_canceled(graph, setup_for, caller):
    setup = setup_for(duration=1.0)
    shell = paused(graph, setup)
    told = []

    def listen(message):
        told.append((message.feedback.completed_steps, message.feedback.remaining_steps))
        if told[-1] == (30, 870):
            goals[-1].cancel_goal_async()

    goals = []

    def send(steps):
        while not caller.goals.server_is_ready():
            yield None
        goal = SimulateSteps.Goal(steps=steps)
        goals.append((yield caller.goals.send_goal_async(goal, feedback_callback=listen)))
        assert goals[-1].accepted
        answer = yield goals[-1].get_result_async()
        return answer.status, answer.result.result.result, answer.result.result.error_message

    def talk() -> Talk:
        from action_msgs.msg import GoalStatus

        yield from started(shell)
        assert (yield from send(20)) == (GoalStatus.STATUS_SUCCEEDED, OK, "")
        assert told == [(k, 20 - k) for k in range(1, 21)]
        assert shell.stepper.tick == 20 and (yield from caller.state()) == PAUSED
        status, code, why = yield from send(900)
        assert (status, code) == (GoalStatus.STATUS_CANCELED, FAILED)
        assert why.endswith("of 900 steps were taken: canceled")
        tick = shell.stepper.tick
        assert 50 <= tick < 920 and (yield from caller.state()) == PAUSED
        # In a run that goes on there are no steps.
        assert (yield from caller.set(PLAYING)) == OK
        status, code, why = yield from send(1)
        assert (status, code) == (GoalStatus.STATUS_ABORTED, FAILED)
        assert why == "playing: pause it first"
        assert (yield from caller.set(PAUSED)) == OK
        # The result comes even of the steps that end the run.
        left = round(1.0 / setup.scenario.control_period) - shell.stepper.tick
        assert (yield from send(left)) == (GoalStatus.STATUS_SUCCEEDED, OK, "")
        told.append("end")

    caller.talk(talk())
    assert told[-1] == "end"
    assert shell.result["trajectory_sha256"] == run_in(setup).sha256()


def test_a_reset_takes_time_and_state_together(graph, setup_for, caller):
    setup, scope = setup_for(), ResetSimulation.Request
    shell = paused(graph, setup)

    def talk() -> Talk:
        yield from started(shell)
        wrong = (scope.SCOPE_TIME, scope.SCOPE_STATE, scope.SCOPE_SPAWNED)
        for number in (*wrong, scope.SCOPE_DEFAULT, scope.SCOPE_ALL):
            assert (yield from caller.step(5)) == (OK, "")
            code = yield from caller.code(ResetSimulation, "reset_simulation", scope=number)
            assert code == (UNSUPPORTED if number in wrong else OK)
            assert shell.stepper.tick == (0 if code == OK else 5 * (wrong.index(number) + 1))
        assert (yield from caller.step(5)) == (OK, "")
        assert (yield from caller.call(Trigger, "reset")).success and shell.stepper.tick == 0
        yield from caller.set(PLAYING)

    caller.talk(talk())
    assert shell.result["trajectory_sha256"] == run_in(setup).sha256()


def test_entities_are_the_robot_by_its_name_and_its_true_state(graph, setup_for, caller):
    shell = paused(graph, setup_for())

    def talk() -> Talk:
        yield from started(shell)
        yield from caller.step(60)
        for text, names in (("", ["snake"]), ("^sn(a|o)ke$", ["snake"]), ("packbot", [])):
            filters = EntityFilters(filter=text)
            for kind, name in (
                (GetEntities, "get_entities"),
                (GetEntitiesStates, "get_entities_states"),
            ):
                answer = yield from caller.call(kind, name, filters=filters)
                assert answer.result.result == OK and list(answer.entities) == names
            assert len(answer.states) == len(names)
        for filters, code in (
            (EntityFilters(filter="("), FAILED),
            (EntityFilters(filter="[[:alpha:]]"), UNSUPPORTED),
            (EntityFilters(categories=[EntityCategory()]), UNSUPPORTED),
        ):
            assert (yield from caller.code(GetEntities, "get_entities", filters=filters)) == code
        for kind, name in (
            (GetEntityState, "get_entity_state"),
            (SetEntityState, "set_entity_state"),
        ):
            code = yield from caller.code(kind, name, entity="cobra")
            assert code == Result.RESULT_NOT_FOUND
        answer = yield from caller.call(GetEntityState, "get_entity_state", entity="snake")
        state, entity = shell.stepper.state, answer.state
        stamp, pose, twist = entity.header.stamp, entity.pose, entity.twist
        assert stamp.sec + 1e-9 * stamp.nanosec == pytest.approx(state.time, abs=1e-12)
        assert [pose.position.x, pose.position.y] == state.position[:2].tolist()
        # The standard's twist is in the world: the square of its norm is that of ours.
        ours = np.linalg.norm(state.twist[:3])
        assert math.hypot(twist.linear.x, twist.linear.y) == pytest.approx(ours, rel=1e-12)
        yaw = 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)
        ahead = state.twist[0] * math.cos(yaw) - state.twist[1] * math.sin(yaw)
        assert twist.linear.x == pytest.approx(ahead, rel=1e-9)
        assert math.isnan(entity.acceleration.linear.x)
        graph.run.stop()

    caller.talk(talk())


def entity(x=0.0, y=0.0, z=0.0, yaw=0.0, w=None, vx=0.0, vz=0.0, rate=0.0, frame=""):
    """Make a state of an entity."""
    state = EntityState()
    state.header.frame_id = frame
    position, turn = state.pose.position, state.pose.orientation
    position.x, position.y, position.z = x, y, z
    turn.z, turn.w = math.sin(yaw / 2), math.cos(yaw / 2) if w is None else w
    state.twist.linear.x, state.twist.linear.z, state.twist.angular.z = vx, vz, rate
    return state


@pytest.mark.parametrize("engine", ["reference", "dart", "mujoco", "gz"])
def test_a_run_begins_where_the_robot_was_placed(graph, setup_for, caller, engine):
    setup = setup_for()
    shell = paused(graph, setup, engine)
    height = float(setup.initial.position[2])
    asked = entity(1.0, -2.0, height, yaw=0.5, vx=0.1, rate=0.2)
    flags = {"set_pose": True, "set_twist": True}

    def put(state, **flags):
        yield from started(shell)
        return (
            yield from caller.code(
                SetEntityState, "set_entity_state", entity="snake", state=state, **flags
            )
        )

    def talk() -> Talk:
        for wrong, code in (
            (entity(z=height + 0.1), INVALID_POSE),
            (entity(z=height, w=0.3), INVALID_POSE),
            (entity(math.nan, z=height), INVALID_POSE),
            (entity(z=height, frame="base_link"), FAILED),
            (entity(z=height, vz=0.1), FAILED),
        ):
            assert (yield from put(wrong, **flags)) == code
        assert (yield from put(entity(5.0, z=height))) == OK  # without flags nothing is set
        assert shell.stepper.state.position[0] == setup.initial.position[0]
        assert (yield from put(asked, **flags)) == OK
        answer = yield from caller.call(GetEntityState, "get_entity_state", entity="snake")
        assert answer.state.pose.position.y == pytest.approx(-2.0)
        assert answer.state.twist.linear.x == pytest.approx(0.1)
        yield from started(shell)
        yield from caller.step(10)
        code = yield from caller.code(
            SetEntityState, "set_entity_state", entity="snake", state=asked, **flags
        )
        assert code == WRONG_STATE
        yield from caller.set(PLAYING)

    caller.talk(talk())
    with or_skip():
        simulator = make_simulator(setup, engine)
    direct = simulate(
        simulator=simulator, controller=make_controller(setup),
        initial=start_of(setup.base, setup.initial, SimpleNamespace(state=asked)),
        duration=setup.scenario.duration, control_period=setup.scenario.control_period,
        seed=setup.scenario.seed,
    )  # fmt: skip
    assert shell.result["trajectory_sha256"] == direct.sha256()
    assert direct.sha256() != run_in(setup, engine).sha256()


def test_a_recorded_run_begins_where_the_robot_was_placed(graph, setup_for, caller, tmp_path):
    """The bag has both starts, 0 s and 0 s, and is read from the second one on."""
    setup = setup_for()
    shell = paused(graph, setup)
    graph.run.expect()
    recorder = RecorderShell(graph.node("recorder"), "snake", tmp_path / "bag", graph.run)
    asked = entity(1.0, -2.0, float(setup.initial.position[2]), yaw=0.5)

    def talk() -> Talk:
        yield from started(shell)
        fields = {"entity": "snake", "state": asked, "set_pose": True}
        while (yield from caller.code(SetEntityState, "set_entity_state", **fields)) != OK:
            pass
        yield from caller.set(PLAYING)

    caller.talk(talk())
    shell.close()
    recorder.close()
    run = read_run(tmp_path / "bag").trajectory
    assert run.position[0].tolist() == pytest.approx([1.0, -2.0, asked.pose.position.z])
    assert run.sha256() == shell.result["trajectory_sha256"]


def test_version_2_0_sets_pose_and_twist_without_flags(setup_for):
    setup = setup_for()
    height = float(setup.initial.position[2])
    request = SimpleNamespace(state=entity(1.0, z=height, vx=0.1))  # 2.0 has no flags
    state = start_of(setup.base, setup.initial, request)
    assert state.position.tolist() == [1.0, 0.0, height] and state.twist[0] == 0.1
    with pytest.raises(RefusedError, match="level"):
        start_of(setup.base, setup.initial, SimpleNamespace(state=entity(z=height + 1.0)))


def test_quitting_ends_the_run(graph, setup_for, caller):
    shell = paused(graph, setup_for())

    def talk() -> Talk:
        yield from started(shell)
        assert (yield from caller.set(QUITTING)) == OK

    caller.talk(talk())
    assert shell.stepper.tick == 0
