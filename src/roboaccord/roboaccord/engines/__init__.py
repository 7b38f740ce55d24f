"""Physics engines behind the Simulator interface, for any robot with a URDF.

An engine is an `EngineSpec`, found by entry point group `roboaccord.engines`.
"""

from roboaccord.engines.installed import spec as spec  # which comes before the module of its name
from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
