"""The transport `ros`: a run in which simulator, controller and recorder are nodes of this process.

A transport is the way in which simulator and controller exchange states and efforts; the direct one
is a loop of function calls. Here both are ROS nodes, with one executor and a private domain (a
domain id that nobody else uses), so other runs do not disturb it. The recorder is made first, for
it must receive every message. The run is equal to that of the direct loop, bit for bit
(test_transports).

Another field of the request is added to `Options` here and to `_write_parameters` in processes.py.
setup.cfg names `run_ros` as the transport.
"""

from __future__ import annotations

import contextlib
from functools import partial

from rclpy.context import Context
from roboaccord.run import Figures, RunRequest, make_simulator
from roboaccord.run import Run as RunResult
from roboaccord.scenario import path_changes
from roboaccord.simulators import Simulator

from roboaccord_ros.graph.parameters import Options
from roboaccord_ros.graph.spinning import Run, ends_between_callbacks, quiet_node, session, spin
from roboaccord_ros.nodes.controller import ControllerShell
from roboaccord_ros.nodes.inputs import PublishedInputs
from roboaccord_ros.nodes.recorder import RecorderShell
from roboaccord_ros.nodes.simulator import SimulatorShell
from roboaccord_ros.run.domain import announce, private_domain

NODES = ("simulator", "controller", "recorder")  # names of the nodes


def run_ros(request: RunRequest) -> RunResult:
    """Run over ROS in this process: three nodes, one executor, a private domain.

    Raises:
        AccordError: whatever ends the run early, in one line.
    """
    return run_nodes(request, request.wrap(make_simulator(request.setup, request.engine)))


def run_nodes(request: RunRequest, simulator: Simulator) -> RunResult:
    """Run over ROS in this process with a given simulator."""
    setup, run, context = request.setup, Run(expected=len(NODES)), Context()
    options = Options(
        engine=request.engine,
        controller=request.controller,
        timeout=request.timeout,
        start_timeout=request.start_timeout,
        peers=("recorder",),
        shared_process=True,
        make_tally=partial(Figures, setup),
    )
    with private_domain() as domain, session(context, domain_id=domain) as nodes:
        nodes += [quiet_node(name, context, use_global_arguments=False) for name in NODES]
        simulator_node, controller_node, recorder_node = nodes
        with contextlib.ExitStack() as stack:
            changes = path_changes(setup.scenario.data())
            recorder = RecorderShell(recorder_node, setup.robot.name, request.bag, run, changes)
            stack.callback(recorder.close)
            observers = request.observers
            shell = SimulatorShell(simulator_node, setup, simulator, run, options, observers)
            inputs = PublishedInputs(controller_node, setup, request.inputs)
            controller = ControllerShell(controller_node, setup, run, options, inputs)
            shell.connect_controller(controller)
            stack.callback(controller.watch.stop)
            with ends_between_callbacks(run):
                spin(context, nodes, run)
        if run.error:
            raise run.error
    announce(request.tell)
    return RunResult(request, shell.motion, simulator.version, "ros", shell.wall_time)
