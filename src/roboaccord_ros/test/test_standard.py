"""The services of simulation_interfaces, called by real clients, with right and wrong requests."""

from __future__ import annotations

import math
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.scenario.controllers import make_controller
from running import or_skip, run_in

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")
pytest.importorskip("simulation_interfaces", reason="simulation_interfaces is not on PyPI")

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient
from roboaccord_ros.nodes.entities import INVALID_POSE, RefusedError, requested_start
from roboaccord_ros.nodes.recorder import RecorderShell
from sensor_msgs.msg import JointState
from simulation_interfaces import msg, srv
from simulation_interfaces.action import SimulateSteps
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.thorough
OK, FAILED = msg.Result.RESULT_OK, msg.Result.RESULT_OPERATION_FAILED
UNSUPPORTED, WRONG_STATE = msg.Result.RESULT_FEATURE_UNSUPPORTED, msg.Result.RESULT_INCORRECT_STATE
STOPPED, PLAYING = msg.SimulationState.STATE_STOPPED, msg.SimulationState.STATE_PLAYING
PAUSED, QUITTING = msg.SimulationState.STATE_PAUSED, msg.SimulationState.STATE_QUITTING
CHANGE = srv.SetSimulationState.Response
ENGINES = ["reference", "dart", "mujoco", "gz"]
MOST = 2**64 - 1  # steps; what a client sends for -1


class Caller:
    """Calls services of the simulator, from a generator that runs while the graph spins."""

    def __init__(self, graph):
        self.graph, self.node = graph, graph.node("caller")
        self._clients = {}

    def ask(self, kind, name="", **fields):
        """Send a request; return the future of its response."""
        name = name or re.sub("(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
        client = self._clients.setdefault(name, self.node.create_client(kind, f"/sim/{name}"))
        while not client.service_is_ready():
            yield None
        return client.call_async(kind.Request(**fields))

    def call(self, kind, name="", **fields):
        return (yield (yield from self.ask(kind, name, **fields)))

    def code(self, kind, **fields):
        return (yield from self.call(kind, **fields)).result.result

    def change(self, state):
        return self.code(srv.SetSimulationState, state=msg.SimulationState(state=state))

    def state(self):
        return (yield from self.call(srv.GetSimulationState)).state.state

    def step(self, steps):
        result = (yield from self.call(srv.StepSimulation, steps=steps)).result
        return result.result, result.error_message

    def put(self, state, *, flags=True):
        flags = {"set_pose": flags, "set_twist": flags}
        return self.code(srv.SetEntityState, entity="snake", state=state, **flags)

    def talk(self, talk):
        """Spin the graph while a conversation goes on, which yields futures, or None to wait."""
        waiting, errors = [None], []

        def look():
            if errors or (waiting[0] is not None and not waiting[0].done()):
                return
            try:
                waiting[0] = talk.send(waiting[0] and waiting[0].result())
            except StopIteration as end:
                waiting[0] = SimpleNamespace(done=lambda: False)
                if end.value == "stop":
                    self.graph.run.stop()
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


def paused(graph, setup, engine="reference", **options):
    """Make simulator and controller of a run that is paused from the beginning."""
    with or_skip():
        shell = graph.simulator(setup, engine=engine, **options)
    graph.controller(setup)
    shell.pacing.pause(True)
    return shell


def started(shell):
    """Wait until the run waits for a step."""
    while shell.pacing.unready or not shell.pacing.is_at_start:
        yield None


def test_the_features_are_those_that_are_offered_and_spawning_is_none(graph, setup_for, caller):
    shell = paused(graph, setup_for())
    names = "ENTITY_STATE_GETTING ENTITY_STATE_SETTING SIMULATION_RESET SIMULATION_STATE_GETTING \
        SIMULATION_STATE_SETTING SIMULATION_STATE_PAUSE STEP_SIMULATION_SINGLE \
        STEP_SIMULATION_MULTIPLE STEP_SIMULATION_ACTION".split()

    def talk():
        features = (yield from caller.call(srv.GetSimulatorFeatures)).features
        numbers = [getattr(msg.SimulatorFeatures, name) for name in names]
        assert sorted(features.features) == sorted(numbers)
        assert list(features.spawn_formats) == []
        assert f"reference {shell.stepper._simulator.version}" in features.custom_info
        return "stop"

    caller.talk(talk())


def test_states_change_as_the_standard_says_and_leave_the_motion_as_it_is(graph, setup_for, caller):
    setup = setup_for(duration=0.5)
    shell = paused(graph, setup)

    def talk():
        yield from started(shell)
        assert (yield from caller.state()) == PAUSED
        assert (yield from caller.change(PAUSED)) == CHANGE.ALREADY_IN_TARGET_STATE
        for wrong in (4, 5, 9):  # no world, loading a world, no state
            assert (yield from caller.change(wrong)) == CHANGE.INCORRECT_TRANSITION
        assert (yield from caller.change(PLAYING)) == OK
        assert (yield from caller.state()) == PLAYING
        assert (yield from caller.step(1)) == (FAILED, "playing: pause it first")
        assert (yield from caller.put(entity())) == WRONG_STATE
        assert (yield from caller.change(PAUSED)) == OK
        tick = shell.stepper.tick
        assert (yield from caller.change(STOPPED)) == OK
        assert (yield from caller.state()) == STOPPED
        assert tick > shell.stepper.tick == 0
        assert (yield from caller.step(1)) == (FAILED, "stopped: pause it first")
        assert (yield from caller.change(PAUSED)) == OK
        assert (yield from caller.state()) == PAUSED
        # What we had before calls the same code.
        assert (yield from caller.call(SetBool, "pause", data=False)).success
        assert (yield from caller.state()) == PLAYING

    caller.talk(talk())
    assert shell.result["trajectory_sha256"] == run_in(setup).sha256()


def test_before_its_start_a_run_is_stopped_and_neither_reset_nor_stepped(graph, setup_for, caller):
    graph.simulator(setup_for())  # and no controller

    def talk():
        assert (yield from caller.state()) == STOPPED
        assert (yield from caller.code(srv.ResetSimulation)) == WRONG_STATE
        assert (yield from caller.call(Trigger, "reset")).message == "the run has not started"
        assert (yield from caller.step(1)) == (FAILED, "the run has not started")
        assert (yield from caller.put(entity())) == WRONG_STATE
        assert (yield from caller.change(PAUSED)) == OK
        assert (yield from caller.state()) == PAUSED
        assert (yield from caller.change(PLAYING)) == CHANGE.STATE_TRANSITION_ERROR
        return "stop"

    caller.talk(talk())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_in_steps_is_the_run(graph, setup_for, caller, engine):
    setup = setup_for()
    shell = paused(graph, setup, engine)
    ticks = round(setup.scenario.duration / setup.scenario.control_period)

    def talk():
        yield from started(shell)
        assert (yield from caller.step(0)) == (OK, "")
        assert (yield from caller.code(srv.StepSimulation)) == OK  # one, by default
        assert shell.stepper.tick == 1 and (yield from caller.state()) == PAUSED
        first = yield from caller.ask(srv.StepSimulation, steps=49)
        assert (yield from caller.step(1)) == (FAILED, "playing: pause it first")
        assert (yield first).result.result == OK
        assert shell.stepper.tick == 50
        line = f"{ticks - 50} of {MOST} steps were taken: the run is over"
        assert (yield from caller.step(MOST)) == (FAILED, line)

    caller.talk(talk())
    assert shell.result["trajectory_sha256"] == run_in(setup, engine).sha256()


def test_without_lockstep_steps_follow_the_clock(graph, setup_for, caller):
    setup = setup_for("control_period=0.005", "controller={name: none}", duration=0.5)
    shell = paused(graph, setup, lockstep=False)

    def talk():
        yield from started(shell)
        begin = time.monotonic()
        assert (yield from caller.step(20)) == (OK, "") and time.monotonic() - begin > 0.09
        assert shell.stepper.tick == 20 and (yield from caller.state()) == PAUSED
        return "stop"

    caller.talk(talk())


def test_a_step_waits_for_its_command_and_ends_with_a_pause_or_a_reset(graph, setup_for, caller):
    shell = graph.simulator(setup_for(), peers=())
    shell.pacing.pause(True)
    # A controller that never answers.
    caller.node.create_publisher(JointTrajectory, "/snake/joint_trajectory", 10)
    caller.node.create_subscription(JointState, "/snake/joint_states", print, 10)

    def talk():
        while not shell.pacing.started:
            yield None
        for end in (
            caller.change(PAUSED), caller.code(srv.ResetSimulation), caller.change(STOPPED)
        ):  # fmt: skip
            yield from caller.change(PAUSED)
            step = yield from caller.ask(srv.StepSimulation, steps=3)
            assert (yield from caller.state()) == PLAYING and not step.done()
            assert (yield from end) == OK
            result = (yield step).result
            assert result.result == FAILED and "0 of 3 steps were taken: " in result.error_message
        return "stop"

    caller.talk(talk())
    assert shell.stepper.tick == 0


def test_an_action_takes_steps_tells_of_each_and_is_canceled(graph, setup_for, caller):
    setup = setup_for(duration=1.0)
    shell = paused(graph, setup)
    client = ActionClient(caller.node, SimulateSteps, "/sim/simulate_steps")
    told, goals, results = [], [], []

    def listen(message):
        told.append((message.feedback.completed_steps, message.feedback.remaining_steps))
        if told[-1] == (30, 870):
            goals[-1].cancel_goal_async()

    def send(steps):
        while not client.server_is_ready():
            yield None
        goal = SimulateSteps.Goal(steps=steps)
        goals.append((yield client.send_goal_async(goal, feedback_callback=listen)))
        answer = yield goals[-1].get_result_async()
        return answer.status, answer.result.result.result, answer.result.result.error_message

    def talk():
        yield from started(shell)
        assert (yield from send(20)) == (GoalStatus.STATUS_SUCCEEDED, OK, "")
        assert told == [(k, 20 - k) for k in range(1, 21)]
        assert shell.stepper.tick == 20 and (yield from caller.state()) == PAUSED
        status, code, why = yield from send(900)
        assert (status, code) == (GoalStatus.STATUS_CANCELED, FAILED)
        assert why.endswith("of 900 steps were taken: canceled")
        assert 50 <= shell.stepper.tick < 920 and (yield from caller.state()) == PAUSED
        # In a run that goes on there are no steps.
        assert (yield from caller.change(PLAYING)) == OK
        aborted = GoalStatus.STATUS_ABORTED, FAILED, "playing: pause it first"
        assert (yield from send(1)) == aborted
        assert (yield from caller.change(PAUSED)) == OK
        # The result comes even of the steps that end the run.
        remaining = round(1.0 / setup.scenario.control_period) - shell.stepper.tick
        results.append((yield from send(remaining)))

    caller.talk(talk())
    assert results == [(GoalStatus.STATUS_SUCCEEDED, OK, "")]
    assert shell.result["trajectory_sha256"] == run_in(setup).sha256()


def test_a_reset_takes_time_and_state_together(graph, setup_for, caller):
    setup = setup_for()
    shell = paused(graph, setup)

    def talk():
        yield from started(shell)
        for scope, code in zip((1, 2, 4, 0, 255), [UNSUPPORTED] * 3 + [OK] * 2, strict=True):
            assert (yield from caller.step(5)) == (OK, "")
            tick = shell.stepper.tick
            assert (yield from caller.code(srv.ResetSimulation, scope=scope)) == code
            assert shell.stepper.tick == (0 if code == OK else tick)
        assert (yield from caller.step(5)) == (OK, "")
        assert (yield from caller.call(Trigger, "reset")).success and shell.stepper.tick == 0
        yield from caller.change(PLAYING)

    caller.talk(talk())
    assert shell.result["trajectory_sha256"] == run_in(setup).sha256()


def test_entities_are_the_robot_by_its_name_and_its_true_state(graph, setup_for, caller):
    shell = paused(graph, setup_for())

    def talk():
        yield from started(shell)
        yield from caller.step(60)
        for text, names in (("", ["snake"]), ("^sn(a|o)ke$", ["snake"]), ("packbot", [])):
            for kind in (srv.GetEntities, srv.GetEntitiesStates):
                answer = yield from caller.call(kind, filters=msg.EntityFilters(filter=text))
                assert answer.result.result == OK and list(answer.entities) == names
            assert len(answer.states) == len(names)
        for filters, code in (
            (msg.EntityFilters(filter="("), FAILED),
            (msg.EntityFilters(filter="[[:alpha:]]"), UNSUPPORTED),
            (msg.EntityFilters(categories=[msg.EntityCategory()]), UNSUPPORTED),
        ):
            assert (yield from caller.code(srv.GetEntities, filters=filters)) == code
        for kind in (srv.GetEntityState, srv.SetEntityState):
            assert (yield from caller.code(kind, entity="cobra")) == msg.Result.RESULT_NOT_FOUND
        answer = yield from caller.call(srv.GetEntityState, entity="snake")
        ours, stamp = shell.stepper.state, answer.state.header.stamp
        pose, twist = answer.state.pose, answer.state.twist
        assert stamp.sec + 1e-9 * stamp.nanosec == pytest.approx(ours.time, abs=1e-12)
        assert [pose.position.x, pose.position.y] == ours.position[:2].tolist()
        # Its twist is in the world, ours in the axes of the base.
        yaw = 2.0 * math.atan2(pose.orientation.z, pose.orientation.w)
        turned = complex(*ours.twist[:2]) * complex(math.cos(yaw), math.sin(yaw))
        assert complex(twist.linear.x, twist.linear.y) == pytest.approx(turned, rel=1e-9)
        assert math.isnan(answer.state.acceleration.linear.x)
        return "stop"

    caller.talk(talk())


def entity(x=0.0, y=0.0, z=0.05, yaw=0.0, w=None, vx=0.0, vz=0.0, rate=0.0, frame=""):
    """Make a state of an entity; by default the snake's base is at its height."""
    state = msg.EntityState()
    state.header.frame_id = frame
    position, turn = state.pose.position, state.pose.orientation
    position.x, position.y, position.z = x, y, z
    turn.z, turn.w = math.sin(yaw / 2), math.cos(yaw / 2) if w is None else w
    state.twist.linear.x, state.twist.linear.z, state.twist.angular.z = vx, vz, rate
    return state


ELSEWHERE = entity(1.0, -2.0, yaw=0.5, vx=0.1, rate=0.2)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_begins_where_the_robot_was_placed(graph, setup_for, caller, engine):
    setup = setup_for()
    shell = paused(graph, setup, engine)

    def talk():
        for wrong, code in (
            (entity(z=0.15), INVALID_POSE), (entity(w=0.3), INVALID_POSE),
            (entity(math.nan), INVALID_POSE), (entity(vz=0.1), FAILED),
            (entity(frame="base_link"), FAILED),
        ):  # fmt: skip
            yield from started(shell)
            assert (yield from caller.put(wrong)) == code
        assert (yield from caller.put(ELSEWHERE, flags=False)) == OK  # nothing is set
        assert shell.stepper.state.position[0] == setup.initial.position[0]
        yield from started(shell)
        assert (yield from caller.put(ELSEWHERE)) == OK
        state = (yield from caller.call(srv.GetEntityState, entity="snake")).state
        assert state.pose.position.y == pytest.approx(-2.0)
        assert state.twist.linear.x == pytest.approx(0.1)
        yield from started(shell)
        yield from caller.step(10)
        assert (yield from caller.put(ELSEWHERE)) == WRONG_STATE
        yield from caller.change(PLAYING)

    caller.talk(talk())
    direct = simulate(
        simulator=make_simulator(setup, engine), controller=make_controller(setup),
        initial=requested_start(setup.base, setup.initial, SimpleNamespace(state=ELSEWHERE)),
        duration=setup.scenario.duration, control_period=setup.scenario.control_period,
        seed=setup.scenario.seed,
    )  # fmt: skip
    assert shell.result["trajectory_sha256"] == direct.sha256() != run_in(setup, engine).sha256()


def test_a_recorded_run_begins_where_the_robot_was_placed(graph, setup_for, caller, tmp_path):
    """The bag has both starts, 0 s and 0 s, and is read from the second one on."""
    shell = paused(graph, setup_for(), peers=("controller", "recorder"))
    graph.run.expect()
    recorder = RecorderShell(graph.node("recorder"), "snake", tmp_path / "bag", graph.run)

    def talk():
        yield from started(shell)
        while (yield from caller.put(ELSEWHERE)) != OK:
            pass
        yield from caller.change(PLAYING)

    caller.talk(talk())
    shell.close()
    recorder.close()
    run = read_run(tmp_path / "bag").trajectory
    assert np.allclose(run.position[0], [1.0, -2.0, 0.05], rtol=0.0, atol=1e-12)
    assert run.sha256() == shell.result["trajectory_sha256"]


def test_version_2_0_sets_pose_and_twist_without_flags(setup_for):
    setup = setup_for()
    state = requested_start(setup.base, setup.initial, SimpleNamespace(state=entity(1.0, vx=0.1)))
    assert state.position.tolist() == [1.0, 0.0, 0.05] and state.twist[0] == 0.1
    with pytest.raises(RefusedError, match="level"):
        requested_start(setup.base, setup.initial, SimpleNamespace(state=entity(z=1.0)))


def test_quitting_ends_the_run(graph, setup_for, caller):
    shell = paused(graph, setup_for())

    def talk():
        yield from started(shell)
        assert (yield from caller.change(QUITTING)) == OK

    caller.talk(talk())
    assert shell.stepper.tick == 0
