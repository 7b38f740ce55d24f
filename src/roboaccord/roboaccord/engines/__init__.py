"""Physics engines behind the Simulator interface, for any robot with a URDF.

A new engine is an `EngineSpec` in a package of its own, found by the entry points
`roboaccord.engines` (docs/new_engine.md); it needs no line here. Names that such packages or robots
import may be added to `__init__.pyi` (test_door); those there stay. `spec` is imported first
because a module has that name, too: keep it above `lazy_names`.
"""

from roboaccord.engines.installed import spec as spec  # which comes before the module of its name
from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
