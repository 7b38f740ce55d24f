"""A run of a scenario over a transport: the request for it, and its result.

A transport is the way in which controller and simulator exchange states and commands. It is a
function from `RunRequest` to `Run`, found by the entry point group `roboaccord.runners`;
`run_direct` is the core's own, in one process, and roboaccord_ros adds those over ROS, which
`find_runner` refuses on machines where ROS would crash (ros_limits.py).

A new option of a run is a field of `RunRequest` with a default. Keys of `Run.to_json` are those of
`accord run --json`, and stay.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

from roboaccord.bag import ContactMarkers, contact_finder, read_run
from roboaccord.contract import AccordError, Event, Inputs, Observer, Trajectory, check_known
from roboaccord.contract.interfaces import AnyController
from roboaccord.contract.results import Json, Quantity, Seconds, Signals
from roboaccord.run.answer import reset_controller
from roboaccord.run.inputs import Announced
from roboaccord.run.loop import NO_INPUTS, drive, make_simulator
from roboaccord.run.metrics import Figures, Motion
from roboaccord.run.ros_limits import check_room_for_ros
from roboaccord.scenario import START_TIMEOUT, TIMEOUT, Setup, make_controller, origin_of
from roboaccord.scenario.robot_file import remarks_on
from roboaccord.simulators.base import Simulator

GROUP = "roboaccord.runners"  # of entry points, by name of the transport


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """Request for one run: robot, scenario, engine, inputs and observers.

    Args:
        setup: robot and scenario.
        engine: `reference`, or the name of an engine.
        bag: folder of the bag to write, which must not exist.
        controller: of a user, instead of the scenario's; "" for that.
        inputs: targets of the controller, switches and faults; they are recorded.
        observers: follow the run, if the transport runs in this process.
        wrap: returns the simulator to use in place of the one made, if the transport runs in this
            process.
        tell: called with each line about the run that a person should read.
        timeout: how long the controller may take for an answer [s of wall time]; making and
            resetting it may take `START_TIMEOUT`, or `timeout` if that is longer.
    """

    setup: Setup
    engine: str
    bag: Path
    controller: AnyController = ""
    inputs: Inputs = NO_INPUTS
    observers: tuple[Observer, ...] = ()
    wrap: Callable[[Simulator], Simulator] = lambda simulator: simulator
    tell: Callable[[str], None] = lambda line: None
    timeout: float = TIMEOUT

    @property
    def start_timeout(self) -> float:
        """Time limit for making and resetting the controller [s of wall time]."""
        return max(START_TIMEOUT, self.timeout)


@dataclass(frozen=True)
class Run(Signals):
    """A run: what was asked for, and its motion with events and figures.

    Args:
        request: setup, engine and bag.
        motion: its states, events and figures.
        engine_version: version of the simulator.
        transport: name of the transport.
        wall_time: how long the run took [s].
    """

    request: RunRequest
    motion: Motion
    engine_version: str
    transport: str
    wall_time: Annotated[float, Quantity("s")]

    @cached_property
    def trajectory(self) -> Trajectory:
        """The motion, read from the bag."""
        return read_run(self.request.bag).trajectory

    @property
    def metrics(self) -> Mapping[str, float]:
        """The figures of the run by name, such as `speed` [m/s] and `work` [J]."""
        return self.motion.figures()

    @property
    def duration(self) -> Seconds:
        """The time that was simulated."""
        return self.motion.last.time

    @property
    def speed(self) -> Annotated[float, Quantity("1", "simulated time over wall time")]:
        """How many times faster than real time it ran."""
        return self.duration / self.wall_time

    def to_json(self) -> dict[str, Json]:
        """Return what `accord run --json` prints."""
        setup, motion, last = self.request.setup, self.motion, self.motion.last
        final_state: dict[str, Json] = {
            "time": last.time,
            "q": dict(zip(setup.joints, last.q.tolist(), strict=True)),
            "qd": dict(zip(setup.joints, last.qd.tolist(), strict=True)),
            "base": {"position": last.position.tolist(), "orientation": last.orientation.tolist()},
        }
        return {
            "robot": setup.robot.name,
            "scenario": setup.scenario.name,
            "engine": self.request.engine,
            "engine_version": self.engine_version,
            "transport": self.transport,
            "duration": self.duration,
            "steps": motion.states - 1,
            "wall_time": self.wall_time,
            "real_time_factor": self.speed,
            "trajectory_sha256": motion.sha256,
            "bag": str(self.request.bag),
            "events": [_event_data(event) for event in motion.events],
            "final": final_state,
            "metrics": dict(self.metrics),
            **model_of(setup),
        }


def _event_data(event: Event) -> dict[str, Json]:
    """Return an event for the JSON; its energy only where it lost some."""
    data = {key: value for key, value in asdict(event).items() if key != "energy"}
    return data | ({"energy": event.energy} if event.energy else {})


def model_of(setup: Setup) -> dict[str, Json]:
    """Return {"model": remarks} for the JSON of a robot that is a file; {} for other robots."""
    remarks = remarks_on(setup)
    return {"model": dict(remarks)} if remarks else {}


# A transport: it makes the run that is asked for, records it in a bag, and returns it.
Runner = Callable[[RunRequest], Run]


def run_direct(request: RunRequest) -> Run:
    """Run in this process, without ROS, and record the run in its bag."""
    from roboaccord.bag.writer import BagWriter

    setup, scenario = request.setup, request.setup.scenario
    simulator = request.wrap(make_simulator(setup, request.engine))
    controller = make_controller(setup, request.controller, timeout=request.start_timeout)
    motion = Motion(simulator.joints, partial(Figures, setup))
    facts = request.engine, simulator.version, "direct", origin_of(request.controller)
    with BagWriter(request.bag, setup, *facts) as bag:
        find_contacts = contact_finder(setup, simulator)
        markers = [ContactMarkers(find_contacts, bag.write_contacts)] if find_contacts else []
        start_time = time.perf_counter()
        reset_controller(controller, scenario.seed, request.start_timeout)
        drive(
            simulator=simulator,
            controller=controller,
            initial=setup.initial,
            duration=scenario.duration,
            control_period=scenario.control_period,
            inputs=Announced(request.inputs, bag.write_target),
            timeout=request.timeout,
            observers=(bag, motion, *markers, *request.observers),
        )
        wall_time = time.perf_counter() - start_time
        bag.finish(motion.sha256)
    return Run(request, motion, simulator.version, "direct", wall_time)


def find_runner(transport: str) -> Runner:
    """Return the runner of a transport.

    Raises:
        AccordError: for an unknown transport, or one whose libraries or resources are missing.
    """
    runners = {entry.name: entry for entry in entry_points(group=GROUP)}
    check_known("unknown transport ", transport, runners)
    if transport != "direct":
        check_room_for_ros("; or use --transport direct")
    try:
        runner: Runner = runners[transport].load()
    except ImportError as error:
        if (error.name or "").startswith("roboaccord"):
            raise
        reason = f"has no wheel for this machine ({platform.machine()}) or is not installed"
        if error.path:  # a shared library cannot be loaded: its loader states why
            reason = "cannot be loaded: " + error.msg.partition("\n")[0]
        needed = f"transport {transport} needs {error.name}, which {reason}"
        raise AccordError(f"{needed}; use --transport direct") from None
    return runner
