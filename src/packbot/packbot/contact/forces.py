"""Contact forces of lasting contacts, impulses of impacts, and Coulomb friction of both.

With the mass matrix M, the Jacobian J of the closed gaps, the joint rates v and accelerations a,
and the efforts f of everything but contact, these complementarity problems are solved ("|_": of
both sides, one is 0 in each contact):

    lasting contact:  0 <= lambda  |_  J a + dJ/dt v >= 0,     a  = M^-1 (f + J^T lambda)
    impact:           0 <= Lambda  |_  J v+ + e J v- >= 0,     v+ = v- + M^-1 J^T Lambda

An impact changes the kinetic energy by -(1 - e) / (1 + e) Lambda^T J M^-1 J^T Lambda / 2, which is
never positive [Moreau 1988; Glocker 2001]. This requires one restitution e for all contacts of an
instant.

Friction of a contact with the normal force lambda and the tangential velocity s (2,) is
-mu lambda s / sqrt(|s|^2 + eps^2): Coulomb's law, regularised below slip speeds of about eps. It is
proportional to lambda, so that both are solved in the same complementarity problem.

Friction in an impact is applied after the normal impulses. It opposes the slip of each contact, is
at most mu times the normal impulse, and ends when the slip does. Contacts that it drives together
get another impact without restitution. No step adds energy.

The laws must stay: test_packbot_reference checks momentum, complementarity and the energy of each
impact. The constants bound iterations and rounding errors, and may be tuned.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array, DivergedError, Index
from roboaccord.numerics import SOLVED, cholesky, kernel, solve_by_lemke

from packbot.contact.features import KIND, LOWER, PAIR, add_rows
from packbot.model.chain import Chain, place_bodies

# Fraction of its own diagonal that is added to J M^-1 J^T, which redundant contacts make singular:
# far above its round-off, 1e-16, and it changes impulses by 1e-9 of themselves. In `collapse` 1e-11
# and 1e-7 change angles by less than 1e-14 rad (measured).
SOFT = 1e-9
# The same for lasting contacts. With 1e-9, redundant contacts would turn rounding errors of
# 1e-10 m/s^2 in dJ/dt v into forces of 0.1 N, whose friction needs steps of microseconds. With
# 1e-7, gaps open by 1e-11 m a step.
GIVE = 1e-7
# Bound of the rounds of friction and normal impulses at one impact; in `collapse` with mu = 0.3,
# 200 change nothing (measured).
ROUNDS = 50
# Singular values below this fraction of the largest one are those of redundant contacts: these have
# round-off, 1e-16. In `collapse` with mu = 0.3, 1e-6 and 1e-12 change nothing (measured).
RANK = 1e-9
# rad/s; the rounds end when the joint rates change by less: a hundredth of the STILL of motion.py,
# below which a gap does not close. There, 1e-12 changes angles by 1e-14 rad, and 1e-6 by 1e-11.
SETTLED = 1e-9


@kernel
def solve_contacts(root, jacobian, directions, bounds, soft, active, forces, change):
    """Solve 0 <= x |_ D x + b >= 0, with the Delassus matrix D = J M^-1 N^T, and apply x.

    Args:
        root: Cholesky factor of the mass matrix (n, n).
        jacobian: J (m, n).
        directions: N, the joint efforts of each contact per unit of x, J plus friction (m, n).
        bounds: b (m,).
        soft: part of its own diagonal that is added to D.
        active: where x is positive (m,); a guess, replaced by the answer.
        forces: filled with x (m,).
        change: filled with M^-1 N^T x (n,).

    Returns:
        SOLVED or FAILED.
    """
    m, n = jacobian.shape
    responses = np.empty((m, n))
    delassus = np.empty((m, m))
    # Rows of N M^-1: the joint rates by a unit of each contact.
    for i in range(m):
        for k in range(n):
            responses[i, k] = directions[i, k]
        cholesky.solve(root, responses[i])
    # Delassus matrix.
    for i in range(m):
        for j in range(m):
            delassus[i, j] = 0.0
            for k in range(n):
                delassus[i, j] += jacobian[i, k] * responses[j, k]
    for i in range(m):
        delassus[i, i] *= 1.0 + soft
    answer = solve_by_lemke(delassus, bounds, active, forces)
    # M^-1 N^T x.
    for k in range(n):
        change[k] = 0.0
        for i in range(m):
            change[k] += responses[i, k] * forces[i]
    return answer


@kernel
def accelerate(mass, efforts, jacobian, directions, bias, soft, active, forces, acceleration):
    """Solve for the accelerations, and the forces of lasting contacts.

    Args:
        mass: mass matrix M (n, n).
        efforts: f, of everything but contact (n,) [N m].
        jacobian, directions, soft, active: as in `solve_contacts`.
        bias: dJ/dt v (m,).
        forces: filled with lambda (m,).
        acceleration: filled (n,).

    Returns:
        SOLVED or FAILED.
    """
    m, n = jacobian.shape
    root, change, bounds = np.zeros((n, n)), np.empty(n), np.empty(m)
    # Accelerations without contact forces, M^-1 f.
    cholesky.factor(mass, root)
    for k in range(n):
        acceleration[k] = efforts[k]
    cholesky.solve(root, acceleration)
    # Accelerations of the gaps without contact forces, and with them the forces.
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
        mass: mass matrix M (n, n).
        jacobian: Jacobian J of the closed gaps (m, n).
        v: joint rates before the impact (n,).
        restitution: e, from 0 to 1.

    Raises:
        DivergedError: if the complementarity problem has no solution that passes its check.
    """
    why = "the impulses of an impact were not found: its contacts contradict"
    impulses, change = _pushes(mass, jacobian, (1.0 + restitution) * (jacobian @ v), why)
    return impulses, v + change


def open_gaps(mass: Array, jacobian: Array, wanted: Array) -> Array:
    """Return the minor displacement (n,) in the metric of M that opens gaps as required.

    Args:
        mass: mass matrix M (n, n).
        jacobian: Jacobian of the gaps (m, n).
        wanted: distance by which each gap must open (m,); if negative, by which it may close.

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
    """Compute the tangential Jacobian of features: of the slip along two directions.

    Args:
        chain, owner, features: as in `features.measure`.
        q: joint angles (n,) [rad].
        witnesses: points and normals, as filled by `measure` (m, 9).
        jacobian: filled (m, 2, n), along two directions perpendicular to each normal and each
            other; 0 for joint limits.
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
        # First direction: the coordinate axis that is closest to perpendicular to the normal, made
        # perpendicular to it.
        normal = witnesses[f, 6:]
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
            add_rows(
                chain, owner, origin, axis, features[f], witnesses[f], directions[d], jacobian[f, d]
            )


class Sliding:
    """Friction forces and impulses of features (features.py).

    Another law of friction has to replace all methods of this class together.

    Args:
        chain: of `chain_of`.
        owner: index of the body of each hull (h,).
        mu: coefficient of friction of every pair (p,).
        slip_speed: eps [m/s].
    """

    def __init__(self, chain: Chain, owner: Index, mu: Array, slip_speed: float) -> None:
        self._chain, self._owner = chain, owner
        self.mu, self._slip_speed = mu, slip_speed

    @property
    def any(self) -> bool:
        """Whether any pair has friction."""
        return bool(self.mu.any())

    def force_directions(
        self, features: Index, q: Array, v: Array, jacobian: Array, witnesses: Array
    ) -> Array:
        """Return the joint efforts of each feature, friction included, per normal force (m, n).

        This is J - mu s^T J_t / sqrt(|s|^2 + eps^2), with the slip s = J_t v and the tangential
        Jacobian J_t.
        """
        tangential = self._across(features, q, witnesses)
        slip = tangential @ v
        scale = self._coefficients(features) / np.sqrt((slip**2).sum(axis=1) + self._slip_speed**2)
        return np.asarray(jacobian - np.einsum("m,md,mdn->mn", scale, slip, tangential))

    def damping(
        self, features: Index, q: Array, v: Array, witnesses: Array, forces: Array
    ) -> Array:  # fmt: skip
        """Return minus the derivative of the friction efforts by the joint rates (n, n) [N m s].

        The sum over the features, with normal forces lambda (m,) [N] held constant, of
        mu lambda J_t^T (1 - s s^T / (|s|^2 + eps^2)) J_t / sqrt(|s|^2 + eps^2).
        """
        tangential = self._across(features, q, witnesses)
        slip = tangential @ v
        square = (slip**2).sum(axis=1) + self._slip_speed**2
        projection = np.eye(2) - slip[:, :, None] * slip[:, None, :] / square[:, None, None]
        scale = self._coefficients(features) * forces / np.sqrt(square)
        return np.asarray(np.einsum("m,mdi,mde,mej->ij", scale, tangential, projection, tangential))

    def friction_impulses(
        self, mass: Array, features: Index, q: Array, v: Array, witnesses: Array, jacobian: Array,
        impulses: Array,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Apply the friction of an impact after its normal impulses.

        Args:
            mass: mass matrix M (n, n).
            features: closed features (m, 6).
            q, v: joint angles [rad], and joint rates after the normal impulses [rad/s] (n,).
            witnesses: points and normals (m, 9).
            jacobian: Jacobian of the gaps (m, n).
            impulses: normal impulses (m,) [N s].

        Returns:
            normal impulses (m,) and joint rates (n,) after the friction.
        """
        tangential = self._across(features, q, witnesses)
        flat = tangential.reshape(-1, len(q))
        responses = np.linalg.solve(mass, flat.T).T.reshape(tangential.shape)
        mu = self._coefficients(features)
        spent = np.zeros(len(features))  # friction impulse of each contact so far [N s]
        for _ in range(ROUNDS):
            before = v
            # Contact by contact, the impulse that ends the slip, up to the friction that remains.
            for i in range(len(features)):
                slip = tangential[i] @ v
                speed = float(np.linalg.norm(slip))
                remaining = mu[i] * impulses[i] - spent[i]
                if speed == 0.0 or remaining <= 0.0:
                    continue
                direction = slip / speed
                response = direction @ responses[i]
                impulse = min(remaining, speed / float(direction @ (tangential[i] @ response)))
                spent[i] += impulse
                v = v - impulse * response
            # Contacts that this drove together are parted, without restitution.
            parting, v = impact(mass, jacobian, v)
            impulses = impulses + parting
            if np.abs(v - before).max() < SETTLED:
                break
        return impulses, v

    def stop(
        self, mass: Array, features: Index, q: Array, v: Array, witnesses: Array, jacobian: Array
    ) -> Array:  # fmt: skip
        """Return the joint rates (n,) nearest to v, in the metric of M, at which no contact slips.

        This solves configurations in which friction makes the contact force accelerate the gap's
        closing, so that no finite force holds it [Painleve 1895]. The impulse that arises ends when
        the slip does [Genot, Brogliato 1999].
        """
        tangential = self._across(features, q, witnesses)[self._coefficients(features) > 0.0]
        stopped = np.concatenate([jacobian, tangential.reshape(-1, len(q))])
        responses = np.linalg.solve(mass, stopped.T)
        inverse = np.linalg.pinv(stopped @ responses, RANK, hermitian=True)
        return np.asarray(v - responses @ (inverse @ stopped @ v))

    def _coefficients(self, features: Index) -> Array:
        """Return the coefficient of friction of each feature (m,), 0 for joint limits."""
        return np.where(features[:, KIND] < LOWER, self.mu[features[:, PAIR]], 0.0)

    def _across(self, features: Index, q: Array, witnesses: Array) -> Array:
        """Return the tangential Jacobian of features (m, 2, n)."""
        jacobian = np.empty((len(features), 2, len(q)))
        across(self._chain, self._owner, features, q, witnesses, jacobian)
        return jacobian
