"""DART behind the Simulator interface: its `EngineSpec`.

`lacks`, `expert` and `scheme` are facts of DART, not wishes: a line of `lacks` may be removed when
simulator.py can do it; `expert` is fixed by test_expert, `scheme` by the twin (test_scheme).
Settings of a user are in settings.py. Import nothing of dartpy here: every command reads this file.
"""

from __future__ import annotations

from roboaccord.engines.dart.settings import DartSettings
from roboaccord.engines.spec import EngineSpec, Scheme, imported

SPEC = EngineSpec(
    name="dart",
    package="dartpy",
    version=imported("dartpy:__version__"),
    simulator=imported("roboaccord.engines.dart.simulator:DartSimulator"),
    reader=imported("roboaccord.engines.dart.reader:DartReading"),
    settings=DartSettings,
    lacks={
        "armature_impacts": "no reflected inertia where contacts or stops can act: "
        "its impulses do not know it; use the reference or mujoco"
    },
    default=True,
    expert={"friction_solver": "nsgs", "friction_iterations": 1000},
    scheme=lambda model: Scheme("semi-implicit Euler", turning="cut off"),
)
