"""Coulomb friction of contacts: of lasting ones, of impacts, and of contacts that jam.

Friction of a contact with the normal force lambda and the tangential velocity s (2,), its slip, is
-mu lambda s / sqrt(|s|^2 + eps^2): Coulomb's law, regularised below slip speeds of about eps. It is
proportional to lambda, so that both are solved in the same complementarity problem (forces.py).

Friction in an impact is applied after the normal impulses. It opposes the slip of each contact, is
at most mu times the normal impulse, and ends when the slip does. Contacts that it drives together
get another impact without restitution. No step adds energy.

The law must stay: test_packbot_reference checks it. The constants bound iterations and rounding
errors, and may be tuned. Another law has to replace all methods of `ContactFriction` together.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array, Index
from roboaccord.numerics import kernel

from packbot.contact.features import KIND, LOWER, PAIR, Contacts, HullModel, add_parting_rates
from packbot.contact.forces import impact
from packbot.model.chain import new_frames, place_bodies

# Bound of the rounds of friction and normal impulses at one impact; in `collapse` with mu = 0.3,
# 200 change nothing (measured).
MAX_ROUNDS = 50
# Singular values below this fraction of the largest one are those of redundant contacts: these have
# round-off, 1e-16. In `collapse` with mu = 0.3, 1e-6 and 1e-12 change nothing (measured).
RANK_TOLERANCE = 1e-9
# rad/s; the rounds end when the joint rates change by less: a hundredth of the STILL of motion.py,
# below which a gap does not close. There, 1e-12 changes angles by 1e-14 rad, and 1e-6 by 1e-11.
SETTLED_CHANGE = 1e-9


class ContactFriction:
    """Friction forces and impulses of features: vertices and edges that touch (features.py).

    Args:
        model: joints and hulls, as the kernels take them.
        mu: coefficient of friction of every pair (p,).
        slip_speed: eps [m/s].
    """

    def __init__(self, model: HullModel, mu: Array, slip_speed: float) -> None:
        self._model, self.mu, self._slip_speed = model, mu, slip_speed

    @property
    def is_present(self) -> bool:
        """Whether any pair has friction."""
        return bool(self.mu.any())

    def force_directions(self, contacts: Contacts, q: Array, v: Array) -> Array:
        """Return the joint efforts of each contact, friction included, per normal force (m, n).

        This is J - mu s^T J_t / sqrt(|s|^2 + eps^2), with the slip s = J_t v and the tangential
        Jacobian J_t, at joint angles q [rad] and rates v [rad/s] (n,).
        """
        tangential = self._tangential(contacts, q)
        slip = tangential @ v
        regularised_speed = np.sqrt((slip**2).sum(axis=1) + self._slip_speed**2)
        scale = self._coefficients(contacts.features) / regularised_speed
        return np.asarray(contacts.jacobian - np.einsum("m,md,mdn->mn", scale, slip, tangential))

    def forces(self, contacts: Contacts, q: Array, v: Array, normal_forces: Array) -> Array:
        """Return the friction on hull b of each contact, in the world (m, 3) [N].

        The arguments are those of `force_directions`, with the normal forces lambda (m,) [N].
        """
        slip = (self._tangential(contacts, q) @ v)[:, :, None]
        first, second = tangents(contacts.witnesses[:, 6:])
        slip_velocity = slip[:, 0] * first + slip[:, 1] * second
        regularised_speed = np.sqrt((slip**2).sum(axis=1) + self._slip_speed**2)
        scale = self._coefficients(contacts.features) * normal_forces
        return np.asarray(-scale[:, None] * slip_velocity / regularised_speed)

    def damping(self, contacts: Contacts, q: Array, v: Array, forces: Array) -> Array:
        """Return minus the derivative of the friction efforts by the joint rates (n, n) [N m s].

        The sum over the contacts, with normal forces lambda (m,) [N] held constant, of
        mu lambda J_t^T (1 - s s^T / (|s|^2 + eps^2)) J_t / sqrt(|s|^2 + eps^2).
        """
        tangential = self._tangential(contacts, q)
        slip = tangential @ v
        square = (slip**2).sum(axis=1) + self._slip_speed**2
        projection = np.eye(2) - slip[:, :, None] * slip[:, None, :] / square[:, None, None]
        scale = self._coefficients(contacts.features) * forces / np.sqrt(square)
        return np.asarray(np.einsum("m,mdi,mde,mej->ij", scale, tangential, projection, tangential))

    def friction_impulses(
        self, mass: Array, contacts: Contacts, q: Array, v: Array, impulses: Array
    ) -> tuple[Array, Array]:
        """Apply the friction of an impact after its normal impulses.

        Args:
            mass: mass matrix M (n, n).
            contacts: the m contacts that take part in the impact.
            q, v: joint angles [rad], and joint rates after the normal impulses [rad/s] (n,).
            impulses: normal impulses (m,) [N s].

        Returns:
            normal impulses (m,) and joint rates (n,) after the friction.
        """
        tangential = self._tangential(contacts, q)
        rows = tangential.reshape(-1, len(q))
        responses = np.linalg.solve(mass, rows.T).T.reshape(tangential.shape)
        mu = self._coefficients(contacts.features)
        applied = np.zeros(len(mu))  # friction impulse of each contact so far [N s]
        for _ in range(MAX_ROUNDS):
            v_before = v
            # Contact by contact, the impulse that ends the slip, up to the friction that remains.
            for i in range(len(mu)):
                slip = tangential[i] @ v
                speed = float(np.linalg.norm(slip))
                remaining = mu[i] * impulses[i] - applied[i]
                if speed == 0.0 or remaining <= 0.0:
                    continue
                direction = slip / speed
                response = direction @ responses[i]
                impulse = min(remaining, speed / float(direction @ (tangential[i] @ response)))
                applied[i] += impulse
                v = v - impulse * response
            # Contacts that this drove together are parted, without restitution.
            further_impulses, v = impact(mass, contacts.jacobian, v)
            impulses = impulses + further_impulses
            if np.abs(v - v_before).max() < SETTLED_CHANGE:
                break
        return impulses, v

    def rates_without_slip(self, mass: Array, contacts: Contacts, q: Array, v: Array) -> Array:
        """Return the joint rates (n,) nearest to v, in the metric of M, at which no contact slips.

        The arguments are those of `friction_impulses`. This solves configurations in which friction
        makes the contact force accelerate the gap's closing, so that no finite force holds it
        [Painleve 1895]. The impulse that arises ends when the slip does [Genot, Brogliato 1999].
        """
        has_friction = self._coefficients(contacts.features) > 0.0
        tangential = self._tangential(contacts, q)[has_friction]
        # Jacobian of the rates that become 0: of the gaps, and of the slips.
        rows = np.concatenate([contacts.jacobian, tangential.reshape(-1, len(q))])
        responses = np.linalg.solve(mass, rows.T)
        inverse = np.linalg.pinv(rows @ responses, RANK_TOLERANCE, hermitian=True)
        return np.asarray(v - responses @ (inverse @ rows @ v))

    def _coefficients(self, features: Index) -> Array:
        """Return the coefficient of friction of each feature (m,), 0 for joint limits."""
        return np.where(features[:, KIND] < LOWER, self.mu[features[:, PAIR]], 0.0)

    def _tangential(self, contacts: Contacts, q: Array) -> Array:
        """Return the tangential Jacobian J_t of contacts (m, 2, n)."""
        features, _, witnesses = contacts
        jacobian = np.empty((len(features), 2, len(q)))
        fill_tangential_jacobian(self._model, features, q, witnesses, jacobian)
        return jacobian


def tangents(normals: Array) -> tuple[Array, Array]:
    """Return the two directions of `fill_tangential_jacobian` at unit normals (m, 3).

    At a joint limit, whose normal is 0, they are no directions, and nothing slips.
    """
    axes = np.eye(3)[np.abs(normals).argmin(axis=1)]
    first = axes - (axes * normals).sum(axis=1, keepdims=True) * normals
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(normals, first)


@kernel
def fill_tangential_jacobian(model, features, q, witnesses, jacobian):
    """Compute the tangential Jacobian of features: of the slip along two directions.

    Args:
        model, features: as in `features.measure`.
        q: joint angles (n,) [rad].
        witnesses: points and normals, as filled by `measure` (m, 9).
        jacobian: filled (m, 2, n), along two directions perpendicular to each normal and each
            other; 0 for joint limits.
    """
    frames, directions = new_frames(model.chain), np.empty((2, 3))
    place_bodies(model.chain, q, frames)
    for f in range(len(features)):
        jacobian[f, :, :] = 0.0
        if features[f, KIND] >= LOWER:
            continue
        # First direction: the coordinate axis that is closest to perpendicular to the normal, made
        # perpendicular to it.
        witness, normal = witnesses[f], witnesses[f, 6:]
        minor = 0
        for k in range(1, 3):
            if abs(normal[k]) < abs(normal[minor]):
                minor = k
        length = np.sqrt(1.0 - normal[minor] ** 2)
        for k in range(3):
            directions[0, k] = ((1.0 if k == minor else 0.0) - normal[minor] * normal[k]) / length
        # Second direction: normal x first direction.
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            directions[1, k] = normal[i] * directions[0, j] - normal[j] * directions[0, i]
        for d in range(2):
            add_parting_rates(model, frames, features[f], witness, directions[d], jacobian[f, d])
