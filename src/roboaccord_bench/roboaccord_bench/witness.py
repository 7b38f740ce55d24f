"""Certificate of a run in the bench: contact forces and balances of each step.

The laws and their residuals are those of `roboaccord.contract.certificate`.
"""

from typing import Any

import numpy as np
from roboaccord.contract import Certifier, ContactForce

from roboaccord_bench.engine import Forces, World
from roboaccord_bench.scene import REST, G, Motion, Scene

NO_FORCES = "it gives no contact forces"  # the words of the cross-check


class Witness:
    """Certify the steps of a world.

    Args:
        world, scene: at the start.
        step: physics step [s].
    """

    def __init__(self, world: World, scene: Scene, step: float) -> None:
        self._world, self._scene, self._step = world, scene, step
        self._certifier = Certifier(G * sum(body.mass for body in scene.moving))
        self._energy, self._motions = self._state()
        self._forces_are_known = True

    def add(self, time: float, forces: Forces) -> None:
        """Enter the contacts of the last step, and its balances of momentum and energy."""
        touches = self._world.contacts()
        if touches is None:
            self._forces_are_known = False
            return
        earlier, before = self._energy, self._motions
        self._energy, self._motions = energy, motions = self._state()
        contacts, gravity = [], np.array(self._scene.gravity)
        loads = {b.name: b.mass * gravity + forces.get(b.name, 0.0) for b in self._scene.bodies}
        for touch in touches:
            one, two = (motions.get(name, REST) for name in (touch.first, touch.second))
            slip = two.velocity_at(touch.point) - one.velocity_at(touch.point)
            loads[touch.first] -= touch.force
            loads[touch.second] += touch.force
            force = ContactForce(touch.normal, touch.force, touch.gap, slip, self._scene.mu)
            contacts.append(force)
        momentum = 0.0
        for body in self._scene.moving:
            change = motions[body.name].velocity - before[body.name].velocity
            rest = body.mass * change / self._step - loads[body.name]
            if body.slide:  # whose joint has forces of its own, but along the slide
                rest = rest @ body.axes @ body.slide
            momentum = max(momentum, float(np.linalg.norm(rest)))
        work = sum(force @ motions[name].velocity for name, force in forces.items()) * self._step
        self._certifier.add(time, contacts, momentum, float(energy - earlier - work))

    def as_dict(self) -> dict[str, Any]:
        """Return the certificate, or why there is none, as `--json` has it."""
        known = self._forces_are_known
        return self._certifier.as_dict() if known else {"does_not_apply": NO_FORCES}

    def _state(self) -> tuple[float, dict[str, Motion]]:
        """Return energy [J], and motions of all moving bodies."""
        energy, motions = 0.0, {b.name: self._world.motion(b.name) for b in self._scene.moving}
        for body in self._scene.moving:
            motion = motions[body.name]
            turning = float(body.inertia @ (motion.spin @ motion.rotation) ** 2)
            moving = body.mass * float(motion.velocity @ motion.velocity)
            weight = body.mass * float(motion.position @ self._scene.gravity)
            energy += 0.5 * (turning + moving) - weight
        return energy, motions
