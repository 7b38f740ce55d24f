"""Physics engines behind the Simulator interface, for any robot with a URDF.

spec.py says what an engine is, installed.py finds them. base.py is their base class, with
force_laws, compiled (forces as a kernel) and touch_events; model.py what they simulate, mechanism
and reading what they answer. Twins: twin, twin_coordinates, twin_steps, twin_rounding, grip.
Changed models: deviations, moves, symmetries. DART and MuJoCo have rooms of their own.

A new engine is an `EngineSpec` in a package of its own, found by the entry points
`roboaccord.engines` (docs/new_engine.md); it needs no line here. Settings of engines may be added.
Names of engines, settings and features stay, as does the exactness of twins. Names that packages
import may be added to `__init__.pyi` (test_door); those there stay. `spec` is imported first
because a module has that name, too: keep it above `lazy_names`.

Tests: of the package test_engine_spec, test_engine_conformance, test_engines, test_scheme,
test_invariance, test_formats, test_hulls_in_engines.
"""

from roboaccord.engines.installed import spec as spec  # which comes before the module of its name
from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
