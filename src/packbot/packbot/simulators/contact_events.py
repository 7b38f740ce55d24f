"""Events of a run with contact: pairs of bodies that begin to touch, joints that reach a limit.

The stepper (stepping.py) reports each impact and each lasting contact here; what begins is added to
the events of the run, which commands list and recordings contain.

A contact that goes on is one event, however often its bodies bounce: none is added for a pair or
joint that touched within the last `engines.APART` seconds. MIN_APPROACH_SPEED may be tuned.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from roboaccord import engines
from roboaccord.contract import Array, Event, Index

from packbot.contact.features import KIND, LOWER

# m/s, rad/s; slower impacts are not reported: a fiftieth of the default `rest_speed`, below which
# an impact has no restitution either
MIN_APPROACH_SPEED = 1e-4


class ContactEvents:
    """Collects the events of contacts.

    Args:
        events: list to which they are added.
        name_of: returns the name of a feature's pair or joint; features are rows of integers (6,).
    """

    def __init__(self, events: list[Event], name_of: Callable[[Index], str]) -> None:
        self._events, self._name_of = events, name_of
        self._last_touch = dict[str, float]()  # time of the last contact, by its name [s]

    def clear(self) -> None:
        """Forget what has touched."""
        self._last_touch.clear()

    def keep_touching(self, features: Index, time: float) -> None:
        """Record that features (m, 6), rows of features.py, touch at a time [s]."""
        for feature in features:
            self._last_touch[self._name_of(feature)] = time

    def add_impact(self, features: Index, impulses: Array, rates: Array, time: float) -> None:
        """Add the events of an impact, one for each pair or joint that was apart before.

        Args:
            features: gaps that are shut (m, 6).
            impulses: normal impulses (m,) [N s, N m s].
            rates: of the gaps before the impact (m,) [m/s, rad/s].
            time: [s].
        """
        sums = dict[tuple[str, str], float]()
        for feature, impulse, rate in zip(features, impulses, rates, strict=True):
            if impulse > 0.0 and rate < -MIN_APPROACH_SPEED:
                kind = "joint_stop" if feature[KIND] >= LOWER else "impact"
                key = kind, self._name_of(feature)
                sums[key] = sums.get(key, 0.0) + float(impulse)
        for (kind, subject), total in sums.items():
            if time - self._last_touch.get(subject, -math.inf) > engines.APART:
                self._events.append(Event(float(time), kind, subject, total))
            self._last_touch[subject] = time
