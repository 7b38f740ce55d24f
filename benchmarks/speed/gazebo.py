"""Row of Gazebo as an engine: a run of the snake, against the bare server of the same world.

GAIT and TICKS may be changed. The peer is Gazebo's server itself, stepped through its bindings
where nothing is commanded and nothing read: the rest is this project's, and what it costs Gazebo
that the snake moves. Without Gazebo's bindings there is no row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from benchmarks.speed.rows import Pass, Row, rate, sized
from roboaccord.engines import spec
from roboaccord.engines.spec import Missing
from roboaccord.gazebo import expand_for_gazebo
from roboaccord.run import Hold, Motion, Stepper, make_simulator
from roboaccord.run.answer import answer, reset_controller
from roboaccord.scenario import Setup, load_scenario, make_controller

GAIT = "serpenoid"
# Control periods of a pass; any that takes a second would do.
TICKS = sized(1000)


def rows() -> Iterator[Row]:
    if isinstance(spec("gz").look(), Missing):
        return
    setup = Setup.of(load_scenario("snake", "snake", GAIT, ()))
    ours, version = stepped(setup)
    yield Row(
        f"snake, {GAIT} gait with friction, Gazebo as an engine",
        "ticks/s",
        ours,
        bare(setup),
        f"Gazebo {version}, its bare server at rest",
        target_ratio=1.0 / 1.3,
    )


def stepped(setup: Setup) -> tuple[Pass, str]:
    """Return a pass that goes on with a run, and the version of Gazebo."""
    simulator, controller = make_simulator(setup, "gz"), make_controller(setup)
    motion, inputs = Motion(simulator.joints), Hold()
    stepper = Stepper(simulator, setup.initial, setup.scenario.control_period, [motion])
    reset_controller(controller, setup.scenario.seed)
    stepper.start()
    simulator.load()

    def work() -> None:
        for _ in range(TICKS):
            stepper.step(answer(controller, stepper.state, inputs, simulator.joints))

    return lambda: rate(work, TICKS), simulator.version


def bare(setup: Setup) -> Pass:
    """Return a pass of the server alone; the one before is in a partition of its own."""
    from roboaccord_ros.gazebo.engine import contacts_name
    from roboaccord_ros.gazebo.populate import populate
    from roboaccord_ros.gazebo.transport import gazebo_module
    from roboaccord_ros.gazebo.world import PARTITION, World

    world, urdf = World.write(setup), expand_for_gazebo(setup, contacts_name(setup), started=False)
    os.environ[PARTITION] = "roboaccord_bare"
    path = populate(world, setup.robot.name, setup.initial, urdf)
    fixture = gazebo_module("sim").TestFixture(str(path))
    fixture.finalize()
    server, steps = fixture.server(), round(setup.scenario.control_period / world.physics_step)

    def work() -> None:
        for _ in range(TICKS):
            server.run(True, steps, False)

    return lambda: rate(work, TICKS)
