"""Every function has types but kernels, whose types numba infers from what they are called with."""

from __future__ import annotations

import ast

import pytest
from workspace import ROOT

Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_untyped(function: Function) -> bool:
    """Tell whether a function has no annotation at all: mypy refuses those that have some."""
    a = function.args
    arguments = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    return function.returns is None and not any(x and x.annotation for x in arguments)


@pytest.mark.slow
def test_only_kernels_go_without_types() -> None:
    kernels = 0
    for path in sorted(ROOT.glob("src/*/*/**/*.py")):
        if path.relative_to(ROOT).parts[2] in ("test", "launch", "build"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, Function) and is_untyped(node):
                decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
                assert decorators == ["kernel"], f"{path}:{node.lineno}: {node.name} has no types"
                kernels += 1
    assert kernels > 100
