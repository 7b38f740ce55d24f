"""Peers of trees.py in C++: RK4 over pinocchio's forward dynamics, and over code generated of it.

tree_loop.cpp is one loop for both: `pinocchio::aba`, compiled with -O3 -march=native, or C code of
the same function, which CasADi writes once for each robot (tree_code.cpp) and gcc compiles alike.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pinocchio
from benchmarks.speed.cpp import BUILD, compiled, failure, in_packages, installed

SOURCES = Path(__file__).parent
FAST = "-O3", "-march=native"


class Loop:
    """The loop in C++ on one robot's file.

    Args:
        urdf: text.
        name: of the robot, for files.
        joints: names, in the order of results.
        step: [s].
        rate: of all joints at the start [rad/s].
        free: whether the base moves.
        generated: whether accelerations are by generated code.

    Attributes:
        name: of the peer, with versions; where there is none, the reason.
        exists: whether there is one.
    """

    def __init__(
        self, urdf: str, name: str, joints: Sequence[str], step: float, rate: float, *,
        free: bool, generated: bool,
    ) -> None:  # fmt: skip
        self._joints, base = joints, "free" if free else "fixed"
        self.name, self._code = f"pinocchio {version('pin')}, aba in a loop in C++", list[str]()
        headers, model = include(), BUILD / f"{name}_{base}.txt"
        loop, why = None, "headers of Eigen or pinocchio are not installed"
        if headers:
            loop, why = compiled(SOURCES / "tree_loop.cpp", FAST, headers)
        if loop:
            root = [pinocchio.JointModelFreeFlyer()] if free else []
            model.write_text(model_text(pinocchio.buildModelFromXML(urdf, *root)))
        if loop and generated:
            self.name = f"pinocchio {version('pin')}, its aba as C code by {casadi()}, same loop"
            code, why = generate(model, headers)
            self._code = [str(code)]
        self._command = [str(loop), str(model), base, repr(rate), repr(step)]
        self.exists = not why
        if why:
            self.name = f"no peer: {why}"

    def __call__(self, count: int) -> np.ndarray:
        """Return the angles of the joints after some steps."""
        angles = dict(line.split() for line in self._run(count)[1:])
        return np.array([float(angles[name]) for name in self._joints])

    def rate(self, count: int) -> float:
        """Return the steps by processor time [1/s]."""
        return count / float(self._run(count)[0])

    def _run(self, count: int) -> list[str]:
        command = [*self._command, str(count), *self._code]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()


def model_text(model: pinocchio.Model) -> str:
    """Return a model as the loop reads it (tree_model.hpp)."""
    lines = [str(model.njoints - 1)]
    for i in range(1, model.njoints):
        joint, place, body = model.joints[i], model.jointPlacements[i], model.inertias[i]
        axis = getattr(joint.extract(), "axis", np.zeros(3))
        lines.append(f"{model.names[i]} {joint.shortname()}")
        parts = (
            axis, model.parents[i], place.rotation, place.translation, body.mass, body.lever,
            body.inertia,
        )  # fmt: skip
        lines += [" ".join(map(repr, np.ravel(part).tolist())) for part in parts]
    return "\n".join(lines) + "\n"


def include() -> list[Path]:
    """Return the folders of headers of pinocchio and Eigen, or nothing."""
    eigen = installed("include/eigen3"), Path("/usr/include/eigen3")
    found = installed("include/pinocchio"), next((p for p in eigen if p and p.is_dir()), None)
    return [found[0].parent, found[1]] if found[0] and found[1] else []


def casadi() -> str:
    """Return CasADi's name and version."""
    try:
        return f"CasADi {version('casadi')}"
    except PackageNotFoundError:
        return ""


def generate(model: Path, headers: Sequence[Path]) -> tuple[Path | None, str]:
    """Generate and compile the code of a model's accelerations; return it, or why there is none."""
    symbols, file = in_packages("casadi/include"), in_packages("casadi/libcasadi.so")
    if not symbols or not file:
        return None, "CasADi is not installed"
    program, why = compiled(SOURCES / "tree_code.cpp", ["-O1"], [*headers, symbols], [file])
    if program is None:
        return None, why
    code = model.with_suffix(".c")
    subprocess.run([program, model, code], check=True, capture_output=True, text=True)
    made = code.with_suffix(".so")
    why = failure(["gcc", *FAST, "-shared", "-fPIC", str(code), "-o", str(made)])
    return (None, why) if why else (made, "")
