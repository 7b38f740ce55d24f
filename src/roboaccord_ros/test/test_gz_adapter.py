"""Computations of gz_adapter, and its end where Gazebo is not installed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the adapter is tested, is not installed")

from roboaccord.cdr import EffortCodec, JointStateCodec, OdometryCodec
from roboaccord.contract.errors import AccordError, LockstepError
from roboaccord.contract.state import RobotState
from roboaccord.gazebo.form import LEVEL
from roboaccord.numerics.rotations import quaternion_matrix, yaw_quaternion
from roboaccord.run.metrics import KeptMotion
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord_ros.gazebo import gz_adapter, link
from roboaccord_ros.gazebo import switches as gz_switches
from roboaccord_ros.gazebo.bridge import LevelBase, World, body_twist, moved, refuse_start
from roboaccord_ros.gazebo.gz_adapter import GazeboShell
from roboaccord_ros.gazebo.link import FreeLink, LockstepLink
from roboaccord_ros.gazebo.switches import GazeboSwitches
from roboaccord_ros.graph.names import EFFORTS, GZ_ODOMETRY, GZ_STATES, advertise
from roboaccord_ros.graph.parameters import Options
from roboaccord_ros.graph.reading import MOST
from roboaccord_ros.graph.shell import Shell
from std_msgs.msg import String

IN_VAIN = 0.1  # s
PEERS = ("controller",)

three = st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(np.array)


@given(three, three, three, three, st.sampled_from([1e-3, 1e-2]))
def test_the_twist_is_the_one_by_which_the_body_moved(position, turn, linear, angular, step):
    start = Rotation.from_rotvec(turn)
    end = start * Rotation.from_rotvec(angular * step)
    before = np.array([*position, *start.as_quat()])
    after = np.array([*(position + start.apply(linear) * step), *end.as_quat()])
    expected = np.concatenate([linear, angular])
    assert body_twist(before, after, step) == pytest.approx(expected, abs=1e-9 / step)
    after[3:] *= -1.0  # the same orientation
    assert body_twist(before, after, step) == pytest.approx(expected, abs=1e-9 / step)
    none = np.zeros(0)
    state = RobotState(0.0, none, none, none, position, start.as_quat(), expected)
    gone = moved(state, step)
    pose = np.array([*gone.position, *gone.orientation])
    assert body_twist(before, pose, step) == pytest.approx(expected, abs=1e-9 / step)


@given(three, st.floats(-3.0, 3.0), three, st.floats(-3.0, 3.0), three, st.floats(-3.0, 3.0))
def test_a_level_base_is_where_its_joints_put_it(start, heading, place, yaw, speed, rate):
    """Against the chain of transforms, and the difference quotient of its place in the world."""
    none, one = np.zeros(0), np.array([7.0])
    given = RobotState(0.0, none, none, none, start, yaw_quaternion(heading), np.zeros(6))
    base = LevelBase(given)

    def at(time):
        q = np.array([*one, *(place + time * speed), yaw + time * rate])
        qd = np.array([*one, *speed, rate])
        return base.complete(replace(given, time=time, q=q, qd=qd, effort=np.zeros(5)))

    state, step = at(0.0), 1e-6
    turn = Rotation.from_rotvec([0.0, 0.0, heading])
    assert state.position == pytest.approx(start + turn.apply(place), abs=1e-12)
    assert quaternion_matrix(state.orientation) == pytest.approx(
        Rotation.from_rotvec([0.0, 0.0, heading + yaw]).as_matrix(), abs=1e-12
    )
    velocity = (at(step).position - at(-step).position) / (2 * step)
    assert quaternion_matrix(state.orientation) @ state.twist[:3] == pytest.approx(
        velocity, abs=1e-8
    )
    assert state.twist[3:] == pytest.approx([0.0, 0.0, rate])
    assert (state.q, state.qd, len(state.effort)) == (one, one, 1)


def test_the_world_that_ships_is_found_with_its_name_and_step():
    world = World.find("flat")
    assert (world.name, world.physics_step) == ("flat", 0.001)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<sdf><world name='w'/></sdf>", "no physics/max_step_size"),
        ("<sdf/>", "is not a world"),
        ("no XML", "is not XML"),
    ],
)
def test_a_file_that_is_no_world_gives_one_line(text, message, tmp_path):
    path = tmp_path / "w.sdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(AccordError, match=message):
        World.find(str(path))


def test_an_unknown_world_gives_one_line():
    with pytest.raises(AccordError, match=r"no world flatt; did you mean flat\?"):
        World.find("flatt")


def test_a_control_period_that_is_no_multiple_of_the_step_is_refused():
    with pytest.raises(AccordError, match=r"control_period over the step of world flat"):
        World.find("flat").check_period(0.0005)


def test_without_a_bridge_it_says_so(graph, setup_for):
    node, world, setup = graph.node("gz_adapter"), World.find("flat"), setup_for()
    link = FreeLink(node, setup, world)
    shell = GazeboShell(node, setup, world, link, graph.run, Options(start_timeout=IN_VAIN))
    graph.controller(setup_for())
    with pytest.raises(LockstepError, match="no bridge publishes /snake/gz/joint_states"):
        graph.spin()
    shell.close()
    assert "no bridge" in shell.result["error"]


def test_a_base_that_is_held_cannot_start_with_rates(setup_for):
    pytest.importorskip("packbot", reason="the Packbot is not installed")
    refuse_start(setup_for("initial.qd={joint_03: 1.0}", "initial.twist=[0, 1, 0, 0, 0, 0]"))
    packbot = partial(load_scenario, "packbot", "packbot", "collapse")
    refuse_start(Setup.of(packbot([])))
    with pytest.raises(AccordError, match=r"collapse has initial.twist; in Gazebo a base that is"):
        refuse_start(Setup.of(packbot(["initial.twist=[0, 1, 0, 0, 0, 0]"])))


def test_a_ball_that_starts_turned_in_what_carries_it_is_refused(setup_for):
    pytest.importorskip("roller_sphere", reason="the roller sphere is not installed")
    ball = partial(load_scenario, "roller_sphere", "roller_sphere", "headings")
    refuse_start(Setup.of(ball([])))
    refuse_start(setup_for("initial.yaw=0.5"))  # a robot as a whole may be
    with pytest.raises(AccordError, match="headings turns the ball at the start; Gazebo would"):
        refuse_start(Setup.of(ball(["initial.yaw=0.5"])))


class StandIn:
    """Stand in for Gazebo: a world in which every joint turns at 0.1 rad/s from its 0."""

    pauses = True

    def __init__(self, node, setup):
        joints, robot = (*setup.joints, *LEVEL), setup.robot.name
        self._codecs = JointStateCodec(joints), OdometryCodec()
        made = advertise(node, robot, GZ_STATES), advertise(node, robot, GZ_ODOMETRY)
        self._publishers, self._send = zip(*made, strict=True)
        self._step = setup.scenario.control_period
        self._zeros, self.tick = np.zeros(len(joints)), 0

    def missing(self):
        heard = all(publisher.get_subscription_count() for publisher in self._publishers)
        return "" if heard else "nobody hears the stand-in"

    def start(self):
        pass

    def force(self, effort):
        pass

    def deliver(self):
        pass

    def go_on(self):
        self.tick += 1
        time = round(self.tick * self._step, 9)
        state = RobotState(time, self._zeros + 0.1 * time, self._zeros + 0.1, self._zeros)
        for codec, send in zip(self._codecs, self._send, strict=True):
            send(codec.encode(state))


def test_a_run_includes_the_terrain_of_its_scenario_and_not_the_one_that_ships():
    pytest.importorskip("voxel_sphere", reason="the voxel sphere is not installed")
    setup = Setup.of(load_scenario("voxel_sphere", "voxel_sphere", "bowl", []))
    first, *others = World.of(setup, "", lockstep=True).models
    assert any((folder / "terrain_bowl").is_dir() for folder in others)
    triangles = np.fromfile(first / "terrain_bowl/meshes/terrain.stl", "<u4", 1, offset=80)[0]
    assert triangles > 2 * (setup.scenario.terrain["n"] - 1) ** 2  # and the sides


def test_a_kinematic_ball_is_refused_before_anything_is_made():
    pytest.importorskip("voxel_sphere", reason="the voxel sphere is not installed")

    def ball(name):
        return Setup.of(load_scenario("voxel_sphere", "voxel_sphere", name, []))

    World.of(ball("bowl"))  # by torques
    with pytest.raises(AccordError, match="the kinematic ball, and gz has forces"):
        World.of(ball("arena"))


def test_angles_are_those_of_the_robot_though_gazebo_counts_from_the_start(graph, setup_for):
    setup = setup_for("initial.q={joint_03: 0.3, joint_07: -0.2}", duration=0.02)
    node, world = graph.node("simulator"), World.find("flat")  # as the controller knows it
    link = StandIn(graph.node("gazebo"), setup)
    shell = GazeboShell(node, setup, world, link, graph.run, Options(peers=PEERS))
    motion = KeptMotion(setup.joints)
    shell._markers.append(motion)
    graph.controller(setup)
    graph.spin()
    path = motion.trajectory
    assert len(path) == 21
    start = np.zeros(21)
    start[[2, 6]] = 0.3, -0.2
    assert path.q == pytest.approx(start + 0.1 * path.time[:, None], abs=1e-15)
    assert path.qd[1:] == pytest.approx(np.full((20, 21), 0.1))


class Haunted(StandIn):
    """Let a stranger in the same domain command what is no number, each time the world goes on."""

    def __init__(self, node, setup):
        super().__init__(node, setup)
        self._stranger, self._disturb = advertise(node, setup.robot.name, EFFORTS)
        codec = EffortCodec(setup.joints)
        bad = np.full(len(setup.joints), np.nan)
        self._messages = [codec.encode(0.0, bad), EffortCodec(["x"]).encode(0.0, bad[:1]), b"none"]

    def missing(self):
        heard = self._stranger.get_subscription_count()
        return super().missing() or ("" if heard else "nobody hears the stranger")

    def go_on(self):
        for message in self._messages:
            self._disturb(message)
        super().go_on()


def test_a_strangers_command_does_not_end_a_run_in_gazebo(graph, setup_for, caplog):
    """It is ignored, as the simulator of ours ignores it, and told in few lines."""
    setup = setup_for(duration=0.02)
    node, world = graph.node("simulator"), World.find("flat")
    link = Haunted(graph.node("gazebo"), setup)
    shell = GazeboShell(node, setup, world, link, graph.run, Options(peers=PEERS))
    graph.controller(setup)
    graph.spin()
    assert (link.tick, shell.result["steps"]) == (20, 20)
    told = [
        line for line in caplog.text.splitlines() if "/snake/joint_trajectory is ignored" in line
    ]
    assert 1 <= len(told) <= MOST and any("gave effort nan for joint_01" in line for line in told)


def test_a_control_period_is_one_request_to_gazebo(monkeypatch):
    """Of ten physics steps here; before it the barrier, and nothing else."""
    pytest.importorskip("voxel_sphere", reason="the voxel sphere is not installed")
    asked = []

    class Server:
        def __init__(self, world):
            self.node = SimpleNamespace(advertise=lambda topic, kind: None)

        def wait(self):
            asked.append("wait")

        def control(self, **control):
            asked.append(control)

    monkeypatch.setattr(link, "Server", Server)
    monkeypatch.setattr(link, "message", lambda kind: lambda **fields: None)
    setup = Setup.of(load_scenario("voxel_sphere", "voxel_sphere", "bowl", []))
    world = World.of(setup, "", lockstep=True)
    steps = round(setup.scenario.control_period / world.physics_step)
    assert steps > 1
    LockstepLink(setup, world).go_on()
    assert asked == ["wait", {"steps": steps}]


def test_a_run_that_came_to_its_end_leaves_its_real_time_factor(graph, setup_for, monkeypatch):
    """One that is interrupted, or too short to measure, leaves none."""
    setup, kept = setup_for(duration=0.02), []
    node, world = graph.node("simulator"), World.find("flat")
    stand_in = StandIn(graph.node("gazebo"), setup)
    shell = GazeboShell(
        node, setup, world, stand_in, graph.run, Options(peers=PEERS, keep=kept.append)
    )
    shell.finish("interrupted")
    shell.result = {}
    graph.controller(setup)
    monkeypatch.setattr(gz_adapter, "MEASURED", 0.0)
    graph.spin()
    assert kept == [shell.result["real_time_factor"]]


class Repeating(StandIn):
    """Repeat the joint states while paused, and note whether each step has waited for that."""

    def __init__(self, node, setup):
        super().__init__(node, setup)
        self.waited, self._repeated, self._state = [], True, None
        node.create_timer(0.01, self._repeat)

    def go_on(self):
        self.waited.append(self._repeated)
        self._repeated = False
        super().go_on()
        time = round(self.tick * self._step, 9)
        self._state = RobotState(time, self._zeros + 0.1 * time, self._zeros + 0.1, self._zeros)

    def _repeat(self):
        if self._state:
            self._repeated = True
            self._send[0](self._codecs[0].encode(self._state))


def test_a_step_of_a_slow_free_base_waits_until_the_world_has_paused(graph, setup_for):
    """Gazebo compares its pose anew in a pause, which a busy server can leave out."""
    setup = setup_for(duration=0.02)
    link = Repeating(graph.node("gazebo"), setup)
    node, world = graph.node("simulator"), World.find("flat")
    GazeboShell(node, setup, world, link, graph.run, Options(peers=PEERS, contacts="boxes"))
    graph.controller(setup)
    graph.spin()
    # The stand-in's base comes from the start's height to 0 in the second step.
    assert link.waited == [True, True, False, *[True] * 17]


class Told:
    """Write down what is sent to Gazebo."""

    def __init__(self):
        self.messages = []

    def switch(self, name, on):
        self.messages.append((name, on))


@pytest.fixture
def switches(graph):
    """Make two switches, what they send, and a publisher of each one's answer."""
    link, settled = Told(), []
    node, gazebo = graph.node("gz_adapter"), graph.node("bridge")
    names = {"magnet_a": True, "magnet_b": True}
    shell = Shell(node, "monkeybot", graph.run)
    made = GazeboSwitches(shell, names, link, lambda: settled.append(1))
    answers = {
        name: gazebo.create_publisher(String, f"/monkeybot/gz/{name}/state", 1) for name in names
    }
    node.create_timer(0.05, graph.run.guard(made.look))
    return made, link.messages, answers, settled


def test_one_message_at_a_time_goes_to_gazebo_and_off_comes_first(graph, switches):
    made, messages, answers, settled = switches
    node, seen = graph.node("test"), []

    def go_on():
        if made.missing():
            return
        if not messages:
            assert made.bring({"magnet_b": False}) == {"magnet_b": False}
        elif len(messages) == 1 and made.busy:
            answers["magnet_b"].publish(String(data="detached"))
        elif len(messages) == 1:
            seen.append((dict(made.now), len(settled)))
            assert list(made.bring({"magnet_b": True, "magnet_a": False})) == [
                "magnet_a",
                "magnet_b",
            ]
        elif len(messages) == 2:
            answers["magnet_a"].publish(String(data="detached"))
        elif made.busy:
            answers["magnet_b"].publish(String(data="attached"))
        else:
            graph.run.stop()

    node.create_timer(0.1, graph.run.guard(go_on))
    graph.spin()
    assert seen == [({"magnet_a": True, "magnet_b": False}, 1)]
    assert messages == [("magnet_b", False), ("magnet_a", False), ("magnet_b", True)]
    assert made.now == {"magnet_a": False, "magnet_b": True}
    assert len(settled) == 2


def test_a_switch_that_gazebo_does_not_confirm_is_repeated_then_named(graph, switches, monkeypatch):
    made, messages, _, settled = switches
    monkeypatch.setattr(gz_switches, "AGAIN", 0.2)
    monkeypatch.setattr(gz_switches, "PATIENCE", 0.5)
    made.bring({"magnet_a": False})
    with pytest.raises(
        LockstepError, match=r"no answer from Gazebo on /monkeybot/gz/magnet_a/state"
    ):
        graph.spin()
    assert len(messages) >= 2
    assert set(messages) == {("magnet_a", False)}
    assert not settled
