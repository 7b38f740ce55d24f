"""Places of a module where a small error can be put, and the errors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ARITHMETIC = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"), ast.Pow: ("**", "*"), ast.MatMult: ("@", "*"),
}  # fmt: skip
COMPARISON = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"), ast.In: ("in", "not in"), ast.NotIn: (r"not\s+in", "in"),
}  # fmt: skip
DROPPED = (ast.AugAssign, ast.Raise)


@dataclass(frozen=True)
class Mutant:
    """Specify an error: some bytes of a file that are replaced.

    Args:
        file: relative to the repository.
        line, last: of the statement that holds it.
        function: that holds it, its qualified name; "" for what is run as a module is imported.
        kernel: whether that is compiled.
        operator: kind of the error.
        start, end: of the bytes.
        text: in their place.
    """

    file: str
    line: int
    last: int
    function: str
    kernel: bool
    operator: str
    start: int
    end: int
    text: str

    def apply(self, source: bytes) -> bytes:
        """Return the file with the error."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def find_mutants(file: str, source: bytes) -> list[Mutant]:
    """Return all errors that can be put into a file."""
    return Finder(file, source).found


def parses(source: bytes) -> bool:
    """Tell whether a module is one of Python."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


class Finder(ast.NodeVisitor):
    """Walk over the code of a module, but not over annotations, decorators and docstrings."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file, self.source, self.found = file, source, list[Mutant]()
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._names, self._kernels = list[str](), list[bool]()
        self._functions = list[ast.stmt]()
        self._statement: ast.stmt | None = None
        self.visit(ast.parse(source))

    def visit(self, node: ast.AST) -> None:
        outer = self._statement
        if isinstance(node, ast.stmt):
            self._statement = node
        self._mutate(node)
        super().visit(node)
        self._statement = outer

    def generic_visit(self, node: ast.AST) -> None:
        if isinstance(node, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
            return
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    self.visit(child)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._functions.append(node)
        self._enter(node, any(ast.unparse(d) == "kernel" for d in node.decorator_list))
        self._functions.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._enter(node, False)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) not in ("TYPE_CHECKING", "__name__ == '__main__'"):
            self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if ast.unparse(node.value).rpartition(".")[2] not in ("Annotated", "Literal"):
            self.generic_visit(node)

    def _enter(self, node: ast.FunctionDef | ast.ClassDef, kernel: bool) -> None:
        self._names.append(node.name)
        self._kernels.append(kernel)
        self.generic_visit(node)
        self._names.pop()
        self._kernels.pop()

    def _mutate(self, node: ast.AST) -> None:
        for operator, start, end, text in self._errors(node):
            statement = self._statement or node
            within = any(function is not statement for function in self._functions)
            self.found.append(
                Mutant(
                    self.file, statement.lineno, self._last(statement),
                    ".".join(self._names) if within else "", any(self._kernels), operator, start,
                    end, text,
                )
            )  # fmt: skip

    def _last(self, statement: ast.AST) -> int:
        """Return the last line of a statement, of its head where it has a body."""
        body = getattr(statement, "body", None)
        return body[0].lineno if body else statement.end_lineno  # type: ignore[attr-defined]

    def _errors(self, node: ast.AST) -> Iterator[tuple[str, int, int, str]]:
        match node:
            case ast.BinOp():
                if not isinstance(node.left, (ast.JoinedStr, ast.List, ast.Tuple)):
                    pair = ARITHMETIC.get(type(node.op))
                    yield from self._between("arithmetic", node.left, node.right, pair)
            case ast.AugAssign():
                symbol, other = ARITHMETIC.get(type(node.op), ("", ""))
                if symbol:
                    pair = symbol + "=", other + "="
                    yield from self._between("arithmetic", node.target, node.value, pair)
            case ast.Compare():
                sides = [node.left, *node.comparators]
                for left, right, op in zip(sides, sides[1:], node.ops):
                    pair = COMPARISON[type(op)]
                    yield from self._between("comparison", left, right, pair)
            case ast.BoolOp():
                pair = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                yield from self._between("boolean", node.values[0], node.values[1], pair)
            case ast.UnaryOp():
                start, inner = self._span(node)[0], self._span(node.operand)[0]
                if isinstance(node.op, ast.USub):
                    yield "sign", start, inner, "+"
                elif isinstance(node.op, ast.Not):
                    yield "boolean", start, inner, ""
            case ast.Constant():
                yield from self._constant(node)
            case ast.Call():
                yield from self._swapped(node)
            case ast.IfExp() | ast.If():
                start, end = self._span(node.test)
                text = self.source[start:end].decode()
                yield "condition", start, end, f"not ({text})"
        if self._is_dropped(node):
            yield "statement", *self._span(node), "pass"

    def _between(
        self, operator: str, left: ast.AST, right: ast.AST, pair: tuple[str, str] | None
    ) -> Iterator[tuple[str, int, int, str]]:
        if pair is None:
            return
        start, end = self._span(left)[1], self._span(right)[0]
        symbol = pair[0] if pair[0][0].isalpha() else re.escape(pair[0])
        found = re.search(symbol.encode(), self.source[start:end])
        if found:
            yield operator, start + found.start(), start + found.end(), pair[1]

    def _constant(self, node: ast.Constant) -> Iterator[tuple[str, int, int, str]]:
        value, (start, end) = node.value, self._span(node)
        if isinstance(value, bool):
            yield "constant", start, end, str(not value)
        elif isinstance(value, int):
            yield "constant", start, end, str(value + 1)
        elif isinstance(value, float):
            yield "constant", start, end, repr(2.0 * value) if value else "1.0"

    def _swapped(self, node: ast.Call) -> Iterator[tuple[str, int, int, str]]:
        if len(node.args) < 2 or any(isinstance(each, ast.Starred) for each in node.args[:2]):
            return
        (a, b), (c, d) = map(self._span, node.args[:2])
        first, second = self.source[a:b].decode(), self.source[c:d].decode()
        if first != second:
            yield "arguments", a, d, second + self.source[b:c].decode() + first

    def _is_dropped(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Expr):
            return isinstance(node.value, ast.Call)
        if isinstance(node, ast.Assign):
            return all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in node.targets)
        return isinstance(node, DROPPED)

    def _span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends, in bytes."""
        return (
            self._starts[node.lineno - 1] + node.col_offset,  # type: ignore[attr-defined]
            self._starts[node.end_lineno - 1] + node.end_col_offset,  # type: ignore[attr-defined]
        )


def modules(root: Path, package: str) -> list[str]:
    """Return the modules of a package, relative to the repository."""
    top = root / "src" / package
    return sorted(str(path.relative_to(root)) for path in (top / package).rglob("*.py"))
