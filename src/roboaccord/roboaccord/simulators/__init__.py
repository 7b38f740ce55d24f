"""What every simulator derives from, and references of joint space and of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.simulators.base import Proxy as Proxy
    from roboaccord.simulators.base import Simulator as Simulator
    from roboaccord.simulators.joints import LOCK_INERTIA as LOCK_INERTIA
    from roboaccord.simulators.joints import JointFaults as JointFaults
    from roboaccord.simulators.joints import JointFriction as JointFriction
    from roboaccord.simulators.joints import StopWatch as StopWatch
    from roboaccord.simulators.joints import frozen as frozen
    from roboaccord.simulators.joints import hold as hold
    from roboaccord.simulators.joints import measured as measured
    from roboaccord.simulators.losses import CHANNELS as CHANNELS
    from roboaccord.simulators.losses import DAMPING as DAMPING
    from roboaccord.simulators.losses import FRICTION as FRICTION
    from roboaccord.simulators.losses import IMPACTS as IMPACTS
    from roboaccord.simulators.losses import STOPS as STOPS
    from roboaccord.simulators.losses import LossAccount as LossAccount
    from roboaccord.simulators.reference import Reference as Reference

__getattr__, __dir__, __all__ = lazy_names(__name__)
