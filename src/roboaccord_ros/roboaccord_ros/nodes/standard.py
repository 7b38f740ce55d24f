"""Services of the standard simulation_interfaces, by which other programs control a run.

What versions 2.0 and 2.1 of the standard share is offered, by the functions of Pacing that
`sim/reset` and `sim/pause` call, too. A step is one control period and waits for its command. The
robot is placed while a run is stopped or paused at its start: the run then begins there, as after a
reset, so that controller, bag and cross-check have one history. `run.guard` makes a call whose
errors end the run.

Requests, codes and features are those of the package's .srv, .msg and .action files; FEATURES lists
what is offered. test_standard calls each service.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

from rclpy.action import ActionServer, CancelResponse
from rclpy.task import Future
from roboaccord.contract import VERSION
from roboaccord.scenario import Setup
from simulation_interfaces import action, msg, srv

from roboaccord_ros.graph.spinning import POLL
from roboaccord_ros.nodes import entities
from roboaccord_ros.nodes.entities import FAILED, UNSUPPORTED, RefusedError
from roboaccord_ros.nodes.halt import StepRequest
from roboaccord_ros.nodes.pacing import Pacing, Simulation

# Messages of ROS have no type hints.
Request: TypeAlias = Any
Response: TypeAlias = Any
# Names of constants of SimulatorFeatures; the first only for a base that travels.
FEATURES = (
    "ENTITY_STATE_SETTING ENTITY_STATE_GETTING SIMULATION_RESET SIMULATION_STATE_PAUSE "
    "SIMULATION_STATE_GETTING SIMULATION_STATE_SETTING "
    "STEP_SIMULATION_SINGLE STEP_SIMULATION_MULTIPLE STEP_SIMULATION_ACTION"
).split()
# States of SimulationState, and their names by number.
STOPPED, PLAYING, PAUSED, QUITTING = range(4)
STATE_NAMES = ("stopped", "playing", "paused", "quitting")
NOT_FOUND, WRONG_STATE = msg.Result.RESULT_NOT_FOUND, msg.Result.RESULT_INCORRECT_STATE
# Scopes of a reset that come together.
TIME_AND_STATE = srv.ResetSimulation.Request.SCOPE_TIME | srv.ResetSimulation.Request.SCOPE_STATE


def result_of(reason: str, code: int = FAILED) -> msg.Result:
    """Return the result of a request: a code and why it is refused, or RESULT_OK without reason."""
    return msg.Result(result=code if reason else msg.Result.RESULT_OK, error_message=reason)


class StandardServices:
    """Offers the services of a simulation, as `sim/NAME`.

    Args:
        simulation: the node.
        pacing: what is called.
        setup: robot and scenario.
        engine: name and version of the engine.
    """

    def __init__(self, simulation: Simulation, pacing: Pacing, setup: Setup, engine: str) -> None:
        self._simulation, self._pacing, self._base = simulation, pacing, setup.base
        self._robot, self._run, node = setup.robot.name, simulation.run, simulation.node
        features = msg.SimulatorFeatures(custom_info=f"roboaccord {VERSION}, {engine}")
        names = FEATURES if setup.base.travels else FEATURES[1:]
        features.features = [getattr(features, name) for name in names]
        kind = srv.GetSimulatorFeatures
        response = kind.Response(features=features)
        node.create_service(kind, "sim/get_simulator_features", lambda *_: response)
        self._offer(srv.GetSimulationState, "get_simulation_state", self._get_state)
        self._offer(srv.SetSimulationState, "set_simulation_state", self._set_state)
        self._offer(srv.ResetSimulation, "reset_simulation", self._reset)
        self._offer(srv.GetEntities, "get_entities", self._get_entities)
        self._offer(srv.GetEntitiesStates, "get_entities_states", self._get_entities)
        self._offer(srv.GetEntityState, "get_entity_state", self._get_entity)
        self._offer(srv.SetEntityState, "set_entity_state", self._set_entity)
        self._offer_steps()
        goals = action.SimulateSteps, "sim/simulate_steps", self._simulate
        ActionServer(node, *goals, cancel_callback=self._cancel)
        # Numbers of goals that have ended, and whose results are on their way: the run may end at
        # the second `_on_timer` after that. Those that ended before the last one, and since.
        self._ended_before = self._ended_since = 0
        simulation.every(POLL, self._on_timer)

    def _offer(self, kind: Any, name: str, act: Callable[[Request, Response], None]) -> None:
        """Offer a service on the robot or the run; `act` completes its response but the result."""

        def respond(request: Request, response: Response) -> Response:
            """Act on a request, and return the response with the result."""
            try:
                if getattr(request, "entity", self._robot) != self._robot:
                    raise RefusedError(f"no {request.entity}: there is {self._robot}", NOT_FOUND)
                act(request, response)
                response.result = result_of("")
            except RefusedError as refusal:
                response.result = result_of(*refusal.args)
            return response

        self._simulation.node.create_service(kind, f"sim/{name}", respond)

    def _offer_steps(self) -> None:
        """Offer the service that takes steps, and responds after the last of them.

        rclpy passes what a callback returns to `send_response` at once. So the callback returns
        the request, too, and `send_response` is replaced by a function that first takes the steps.
        """
        service = self._simulation.node.create_service(
            srv.StepSimulation, "sim/step_simulation", lambda request, response: (request, response)
        )
        service.send_response = partial(self._step, service.send_response)

    @property
    def _state(self) -> int:
        """The state of the simulation: its number in SimulationState."""
        pacing = self._pacing
        if self._simulation.result:
            return QUITTING
        if pacing.halt.stopped or not (pacing.started or pacing.halt.paused):
            return STOPPED
        return PAUSED if pacing.halt.is_holding else PLAYING

    def _get_state(self, _: Request, response: Response) -> None:
        """Return the state of the simulation."""
        response.state.state = self._state

    def _set_state(self, request: Request, response: Response) -> None:
        """Stop, play, pause or quit, as the request says."""
        pacing, target, now = self._pacing, request.state.state, self._state
        if target not in range(len(STATE_NAMES)) or now == QUITTING:
            reason = f"{target} cannot follow {STATE_NAMES[now]}"
            raise RefusedError(reason, response.INCORRECT_TRANSITION)
        if target == now:
            raise RefusedError(f"already {STATE_NAMES[now]}", response.ALREADY_IN_TARGET_STATE)
        if target == QUITTING:
            self._run.interrupt()
        elif target == STOPPED:
            self._run.guard(pacing.stop)()
        else:
            self._run.guard(pacing.pause)(target == PAUSED)
            if target == PLAYING and pacing.unready:
                raise RefusedError(pacing.unready, response.STATE_TRANSITION_ERROR)

    def _reset(self, request: Request, _: Response) -> None:
        """Go back to the start of the run."""
        if request.scope and request.scope & TIME_AND_STATE != TIME_AND_STATE:
            raise RefusedError("time and state go together: scope 0 or 255", UNSUPPORTED)
        if self._pacing.unready:
            raise RefusedError(self._pacing.unready, WRONG_STATE)
        self._run.guard(self._pacing.restart)()

    def _get_entities(self, request: Request, response: Response) -> None:
        """Return the names of the entities that pass filters, and their states if asked for."""
        response.entities = entities.entities_passing(self._robot, request.filters)
        if hasattr(response, "states"):
            state = entities.entity_state(self._simulation.stepper.state)
            response.states = [state for _ in response.entities]

    def _get_entity(self, _: Request, response: Response) -> None:
        """Return the state of the robot."""
        response.state = entities.entity_state(self._simulation.stepper.state)

    def _set_entity(self, request: Request, _: Response) -> None:
        """Place the robot, while a run is at its start."""
        if not self._base.travels:
            raise RefusedError(f"the base of {self._robot} does not travel", UNSUPPORTED)
        is_at_start = self._pacing.is_at_start
        advice = "" if is_at_start else "a robot is placed at a run's start: stop it first"
        if reason := self._pacing.unready or advice:
            raise RefusedError(reason, WRONG_STATE)
        start = entities.requested_start(self._base, self._simulation.stepper.state, request)
        self._run.guard(self._pacing.restart)(start)

    def _step(self, send: Callable[..., None], pair: tuple[Request, Response], header: Any) -> None:
        """Take the steps of a request to the service, then send the response.

        Args:
            send: function of rclpy that sends a response.
            pair: request and response.
            header: of the request, by which rclpy finds who asked.
        """
        request, response = pair

        def send_response(reason: str) -> None:
            """Send the response; `reason` is why not all steps were taken, or ""."""
            response.result = result_of(reason)
            send(response, header)

        self._take_steps(StepRequest(request.steps, lambda _: None, send_response))

    def _take_steps(self, request: StepRequest) -> None:
        """Take the steps of a request if the simulation is paused, else end it with the reason."""
        state = STATE_NAMES[self._state]
        reason = self._pacing.unready or ("" if state == "paused" else f"{state}: pause it first")
        if reason or not request.count:
            request.on_end(reason)
            return
        self._pacing.halt.begin_steps(request)
        self._run.guard(self._pacing.resume)()

    async def _simulate(self, goal: Any) -> Any:
        """Take the steps of a goal of the action, and return its result."""
        ended, count = Future(), goal.request.steps
        self._run.expect()  # the run goes on until the result is sent

        def publish_progress(taken: int) -> None:
            """Publish how many steps were taken, and how many remain."""
            counts = {"completed_steps": taken, "remaining_steps": count - taken}
            goal.publish_feedback(action.SimulateSteps.Feedback(**counts))

        self._take_steps(StepRequest(count, publish_progress, ended.set_result))
        reason = ended.result() if ended.done() else await ended
        finish = goal.canceled if goal.is_cancel_requested else goal.abort
        if not reason:
            finish = goal.succeed
        finish()
        self._ended_since += 1
        return action.SimulateSteps.Result(result=result_of(reason))

    def _cancel(self, _: Any) -> CancelResponse:
        """End the steps of a goal that is cancelled."""
        self._pacing.halt.end_steps("canceled")
        return CancelResponse.ACCEPT

    def _on_timer(self) -> None:
        """Let the run end once results are on their way; called every POLL."""
        for _ in range(self._ended_before):
            self._run.done()
        self._ended_before, self._ended_since = self._ended_since, 0
