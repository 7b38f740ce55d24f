"""Contact forces at rest, impulses at impacts, and regularised Coulomb friction of both.

With the mass matrix M, the Jacobian J of the gaps g that are closed, and the efforts f:

    rest:    0 <= lambda  |_  J a + dJ/dt v >= 0,          a  = M^-1 (f + J^T lambda)
    impact:  0 <= Lambda  |_  J v+ + e J v- >= 0,          v+ = v- + M^-1 J^T Lambda

An impact changes the kinetic energy by -(1 - e) / (1 + e) Lambda^T J M^-1 J^T Lambda / 2, which is
never positive [Moreau 1988; Glocker 2001]. One e for all contacts of an instant is needed for that.

A contact that presses with lambda and slides with the velocity s (2,) across its normal is pushed
back by mu lambda s / sqrt(|s|^2 + eps^2): Coulomb's law down to speeds of about eps, below which it
creeps. That enters the complementarity problem with lambda, so that the two are solved together.

The friction of an impact follows the impulses along the normals. Impulses act against each slip, at
most mu times those along the normal and as long as they take kinetic energy; contacts that they
push together are parted again without a bounce. No step adds energy.

These laws are fixed: test_packbot_reference checks momentum, complementarity and the energy of each
impact. The constants bound iterations and rounding and may be tuned. Coefficients are those of a
scenario's `friction`. Another law of friction must replace all methods of Sliding together.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array, DivergedError, Index
from roboaccord.numerics import SOLVED, cholesky, kernel, solve_by_lemke

from packbot.contact.features import KIND, LOWER, PAIR, add_rows
from packbot.model.chain import Chain, place_bodies

SOFT = 1e-9  # of its diagonal, added to J M^-1 J^T, which redundant contacts make singular
# The same at rest. With 1e-9, redundant contacts would turn the 1e-10 m/s^2 of rounding in dJ/dt v
# into forces of 0.1 N, whose friction needs steps of microseconds. Gaps open by 1e-11 m a step.
GIVE = 1e-7
ROUNDS = 50  # of friction and normal impulses at one impact, at most
RANK = 1e-9  # of the largest singular value: redundant contacts leave smaller ones
SETTLED = 1e-9  # m/s: change of the joint rates in a round below which the rounds end


@kernel
def solve_contacts(root, jacobian, directions, bounds, soft, active, forces, change):
    """Solve 0 <= x |_ D x + b >= 0, with the Delassus matrix D = J M^-1 N^T, and apply x.

    Args:
        root: Cholesky factor of the mass matrix (n, n).
        jacobian: J (m, n).
        directions: N, the generalised force of each per unit (m, n): J, and friction.
        bounds: b (m,).
        soft: part of its diagonal that is added to the matrix.
        active: where x is positive (m,): a guess, and the answer.
        forces: filled with x (m,).
        change: filled with M^-1 N^T x (n,).

    Returns:
        SOLVED or FAILED.
    """
    m, n = jacobian.shape
    responses = np.empty((m, n))
    delassus = np.empty((m, m))
    for i in range(m):
        for k in range(n):
            responses[i, k] = directions[i, k]
        cholesky.solve(root, responses[i])
    for i in range(m):
        for j in range(m):
            delassus[i, j] = 0.0
            for k in range(n):
                delassus[i, j] += jacobian[i, k] * responses[j, k]
    for i in range(m):
        delassus[i, i] *= 1.0 + soft
    answer = solve_by_lemke(delassus, bounds, active, forces)
    for k in range(n):
        change[k] = 0.0
        for i in range(m):
            change[k] += responses[i, k] * forces[i]
    return answer


@kernel
def accelerate(mass, efforts, jacobian, directions, bias, soft, active, forces, acceleration):
    """Solve for accelerations (n,) and lasting contact forces (m,); return SOLVED or FAILED."""
    m, n = jacobian.shape
    root, change, bounds = np.zeros((n, n)), np.empty(n), np.empty(m)
    cholesky.factor(mass, root)
    for k in range(n):
        acceleration[k] = efforts[k]
    cholesky.solve(root, acceleration)
    for i in range(m):
        bounds[i] = bias[i]
        for k in range(n):
            bounds[i] += jacobian[i, k] * acceleration[k]
    answer = solve_contacts(root, jacobian, directions, bounds, soft, active, forces, change)
    for k in range(n):
        acceleration[k] += change[k]
    return answer


def impact(mass: Array, jacobian: Array, v: Array, restitution: float = 0.0) -> tuple[Array, Array]:
    """Return impulses (m,) [N s] and the velocities after them (n,).

    Args:
        mass: mass matrix (n, n).
        jacobian: of the gaps that are closed (m, n).
        v: velocities before (n,).
        restitution: e.

    Raises:
        DivergedError: if the complementarity problem has no solution that passes its check.
    """
    why = "the impulses of an impact were not found: its contacts contradict"
    impulses, change = _pushes(mass, jacobian, (1.0 + restitution) * (jacobian @ v), why)
    return impulses, v + change


def open_gaps(mass: Array, jacobian: Array, wanted: Array) -> Array:
    """Return the smallest displacement (n,) in the metric of M that opens gaps as required.

    Args:
        mass: mass matrix (n, n).
        jacobian: of the gaps (m, n).
        wanted: by how much each must open at least (m,); it may close where that is negative.

    Raises:
        DivergedError: if no displacement opens all of them.
    """
    why = "hulls that overlap cannot be parted: their contacts contradict"
    return _pushes(mass, jacobian, -wanted, why)[1]


def _pushes(mass: Array, jacobian: Array, bounds: Array, why: str) -> tuple[Array, Array]:
    """Return x (m,) of 0 <= x |_ D x + b >= 0, and M^-1 J^T x (n,); `why` is for the error."""
    m, n = jacobian.shape
    root, pushes, change = np.zeros((n, n)), np.empty(m), np.empty(n)
    cholesky.factor(mass, root)
    active = bounds < 0.0
    if solve_contacts(root, jacobian, jacobian, bounds, SOFT, active, pushes, change) != SOLVED:
        raise DivergedError(why)
    return pushes, change


@kernel
def across(chain, owner, features, q, witnesses, jacobian):
    """Compute the tangential Jacobian of features, into arrays.

    Args:
        chain, owner, features: as `features.measure` takes them.
        q: joint angles (n,) [rad].
        witnesses: points and normals, as `measure` fills them in (m, 9).
        jacobian: filled, along two directions across each normal (m, 2, n); 0 for limits.
    """
    bodies = len(chain[0])
    turn, origin, axis = np.empty((bodies, 3, 3)), np.empty((bodies, 3)), np.empty((bodies, 3))
    directions = np.empty((2, 3))
    place_bodies(chain, q, turn, origin, axis)
    for f in range(len(features)):
        for d in range(2):
            for k in range(len(q)):
                jacobian[f, d, k] = 0.0
        if features[f, KIND] >= LOWER:
            continue
        normal = witnesses[f, 6:]
        least = 0
        for k in range(1, 3):
            if abs(normal[k]) < abs(normal[least]):
                least = k
        size = np.sqrt(1.0 - normal[least] ** 2)
        for k in range(3):
            directions[0, k] = ((1.0 if k == least else 0.0) - normal[least] * normal[k]) / size
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            directions[1, k] = normal[i] * directions[0, j] - normal[j] * directions[0, i]
        for d in range(2):
            add_rows(
                chain, owner, origin, axis, features[f], witnesses[f], directions[d], jacobian[f, d]
            )


class Sliding:
    """Friction forces and impulses of features.

    Args:
        chain: of `chain_of`.
        owner: index of the body of each hull (h,).
        mu: coefficient of every pair (p,).
        slip_speed: eps [m/s].
    """

    def __init__(self, chain: Chain, owner: Index, mu: Array, slip_speed: float) -> None:
        self._chain, self._owner = chain, owner
        self.mu, self._slip_speed = mu, slip_speed

    @property
    def any(self) -> bool:
        """True if there is friction."""
        return bool(self.mu.any())

    def force_directions(
        self, features: Index, q: Array, v: Array, jacobian: Array, witnesses: Array
    ) -> Array:
        """Return the joint efforts of each feature, friction included, per normal force (m, n)."""
        tangential = self._across(features, q, witnesses)
        slip = tangential @ v
        share = self._coefficients(features) / np.sqrt((slip**2).sum(axis=1) + self._slip_speed**2)
        return np.asarray(jacobian - np.einsum("m,md,mdn->mn", share, slip, tangential))

    def damping(
        self, features: Index, q: Array, v: Array, witnesses: Array, forces: Array
    ) -> Array:  # fmt: skip
        """Return how the friction of features under normal forces falls with the rates (n, n)."""
        tangential = self._across(features, q, witnesses)
        slip = tangential @ v
        square = (slip**2).sum(axis=1) + self._slip_speed**2
        across = np.eye(2) - slip[:, :, None] * slip[:, None, :] / square[:, None, None]
        share = self._coefficients(features) * forces / np.sqrt(square)
        return np.asarray(np.einsum("m,mdi,mde,mej->ij", share, tangential, across, tangential))

    def friction_impulses(
        self, mass: Array, features: Index, q: Array, v: Array, witnesses: Array, jacobian: Array,
        impulses: Array,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Return impulses along the normals (m,) and velocities (n,) after an impact's friction."""
        tangential = self._across(features, q, witnesses)
        flat = tangential.reshape(-1, len(q))
        responses = np.linalg.solve(mass, flat.T).T.reshape(tangential.shape)
        mu = self._coefficients(features)
        spent = np.zeros(len(features))
        for _ in range(ROUNDS):
            before = v
            for i in range(len(features)):
                slip = tangential[i] @ v
                speed = float(np.linalg.norm(slip))
                remaining = mu[i] * impulses[i] - spent[i]
                if speed == 0.0 or remaining <= 0.0:
                    continue
                direction = slip / speed
                response = direction @ responses[i]
                pull = min(remaining, speed / float(direction @ (tangential[i] @ response)))
                spent[i] += pull
                v = v - pull * response
            parting, v = impact(mass, jacobian, v)
            impulses = impulses + parting
            if np.abs(v - before).max() < SETTLED:
                break
        return impulses, v

    def stop(
        self, mass: Array, features: Index, q: Array, v: Array, witnesses: Array, jacobian: Array
    ) -> Array:  # fmt: skip
        """Return the velocities (n,) nearest to v in the metric of M without slip.

        Where friction turns the push of a contact into its closing, no finite force holds it
        [Painleve 1895]; the impulse that arises ends with the slip [Genot, Brogliato 1999].
        """
        tangential = self._across(features, q, witnesses)[self._coefficients(features) > 0.0]
        stopped = np.concatenate([jacobian, tangential.reshape(-1, len(q))])
        responses = np.linalg.solve(mass, stopped.T)
        inverse = np.linalg.pinv(stopped @ responses, RANK, hermitian=True)
        return np.asarray(v - responses @ (inverse @ stopped @ v))

    def _coefficients(self, features: Index) -> Array:
        return np.where(features[:, KIND] < LOWER, self.mu[features[:, PAIR]], 0.0)

    def _across(self, features: Index, q: Array, witnesses: Array) -> Array:
        jacobian = np.empty((len(features), 2, len(q)))
        across(self._chain, self._owner, features, q, witnesses, jacobian)
        return jacobian
