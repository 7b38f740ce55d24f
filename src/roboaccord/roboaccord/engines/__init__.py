"""Physics engines behind the Simulator interface, for any robot with a URDF.

    spec, installed                        specification of an engine; the installed engines
    model, base                            what an engine simulates; base class of its simulator
    force_laws, compiled, touch_events     force laws; forces as a kernel; events of contacts
    mechanism, reading, formats            an engine's own model of a robot; readers of robot files
    dart/, mujoco/                         the two engines of the core
    twin, twin_..., grip                   our equations under an engine's integration method
    deviations, moves, symmetries          changed and moved models, for tests of engines
    differences, charts                    comparison of properties and of coordinates

A new engine is an `EngineSpec` in a package of its own, found by the entry points
`roboaccord.engines` (docs/new_engine.md); it needs no line here. Names of engines, settings and
features must stay, and twins must stay exact. Names that packages import are lines of
`__init__.pyi` (test_door). `spec` is imported first because a module has that name, too: keep it
above `lazy_names`.

Tests: of the package test_engine_spec, test_engine_conformance, test_engines, test_scheme,
test_invariance, test_formats, test_hulls_in_engines.
"""

from roboaccord.engines.installed import spec as spec  # before the module of the same name
from roboaccord.numerics.lazy import lazy_names

# The names of `__init__.pyi`, each imported on first access.
__getattr__, __dir__, __all__ = lazy_names(__name__)
