"""No test has a limit on time that a slow or busy machine could exceed: speeds are benchmarks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from workspace import ROOT

LEAST = 60.0  # s of wall time, below which a test may only wait in vain
IN_VAIN = "IN_VAIN"  # begins the name of a time for which a test waits in vain
KEYWORDS = {"timeout", "start_timeout", "timeout_sec", "open_timeout", "within", "patience"}
CALLS = {"wait", "result", "join", "recv"}
CLOCKS = {"monotonic", "perf_counter", "time", "process_time", "times", "getrusage"}


def is_clock(node: ast.AST) -> bool:
    """Return whether an expression reads a clock."""
    calls = (call.func for call in ast.walk(node) if isinstance(call, ast.Call))
    return any(
        isinstance(call, ast.Attribute)
        and call.attr in CLOCKS
        and isinstance(call.value, ast.Name)
        and call.value.id in {"time", "os", "resource"}
        for call in calls
    )


def limits_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield lines and texts of limits on time that are too short."""
    values = dict[str, ast.AST]()
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            left, right = statement.targets[0], statement.value
            both = isinstance(left, ast.Tuple) and isinstance(right, ast.Tuple)
            pairs = zip(left.elts, right.elts) if both else [(left, right)]
            values |= {ast.unparse(name): value for name, value in pairs}

    def is_short(node: ast.AST) -> bool:
        if isinstance(node, ast.Name) and not node.id.startswith(IN_VAIN):
            node = values.get(node.id, node)
        return (
            isinstance(node, ast.Constant)
            and type(node.value) in (int, float)
            and 0.0 < node.value < LEAST
        )

    for node in ast.walk(tree):
        given: list[ast.AST] = []
        if isinstance(node, ast.Call):
            given += [statement.value for statement in node.keywords if statement.arg in KEYWORDS]
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            given += node.args[:1] if name in CALLS else []
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            given += [node.right] if is_clock(node.left) else []
        elif isinstance(node, ast.Compare) and is_clock(node):
            pairs = zip(node.ops, node.comparators, strict=True)
            given += [side for op, side in pairs if isinstance(op, ast.Lt | ast.LtE)]
        elif isinstance(node, ast.FunctionDef):
            names, defaults = node.args.args[::-1], node.args.defaults[::-1]
            given += [v for a, v in zip(names, defaults, strict=False) if a.arg in KEYWORDS]
        if any(map(is_short, given)):
            yield node.lineno, ast.unparse(node)[:100]


def test_no_test_has_a_short_limit_on_time() -> None:
    files = sorted({*ROOT.glob("test/*.py"), *ROOT.glob("src/*/test/*.py")})
    limits_by_test = {
        str(path.relative_to(ROOT)): [*limits_in(ast.parse(path.read_text(encoding="utf-8")))]
        for path in files
    }
    assert len(limits_by_test) > 200
    assert {name: limits for name, limits in limits_by_test.items() if limits} == {}


@pytest.mark.parametrize(
    "line",
    [
        "SOON = 3.0\nassert time.monotonic() - begun < SOON", "process.communicate(timeout=20)",
        "end = time.monotonic() + 10.0", "server.wait(10)",
        "def gone(processes, patience=20.0): ...", "assert sum(os.times()[2:4]) - before < 2.0",
    ],
)  # fmt: skip
def test_a_short_limit_is_noticed(line: str) -> None:
    assert [*limits_in(ast.parse(line))]


def test_what_is_waited_for_in_vain_may_be_short() -> None:
    assert not [*limits_in(ast.parse("IN_VAIN = 0.2\nrun(timeout=IN_VAIN)\nrun(timeout=90)"))]
