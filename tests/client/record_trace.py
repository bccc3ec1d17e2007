"""The way of one record through the client: which modules it passes, in which order, and how many calls that takes."""

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
_CLIENT = str(ROOT / "client" / "truc_client")
_PROJECT = (_CLIENT, str(ROOT / "protocol"))


class Way(NamedTuple):
    """What was counted of the library: modules, calls, and those of the calls that only pass on."""

    modules: int
    calls: int
    relays: int


class Trace:
    """The calls of the library, and of what it calls, in the order in which they were made."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, int]] = []

    def note(self, frame, event, _argument) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_PROJECT) and not code.co_name.startswith("<"):
            self.calls.append((code.co_filename, code.co_qualname, code.co_firstlineno))

    @property
    def way(self) -> Way:
        """Return what was counted; what the protocol and the rules do is not."""
        own = [call for call in self.calls if call[0].startswith(_CLIENT)]
        relays = sum((file, line) in _relays(file) for file, _, line in own)
        return Way(len({file for file, *_ in own}), len(own), relays)

    def __str__(self) -> str:
        """The way, and every call of it, one a line."""
        lines = (
            f"{'=' if (file, line) in _relays(file) else ' '} {Path(file).relative_to(ROOT)}  {name}"
            for file, name, line in self.calls
        )
        return "\n".join((str(self.way), *lines))


@cache
def _relays(file: str) -> frozenset[tuple[str, int]]:
    """Return the functions of a file, by their first lines, that only pass on: one statement, without a condition."""
    tree = ast.parse(Path(file).read_text())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset((file, _first_line(node)) for node in functions if _only_passes_on(node))


def _first_line(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([function.lineno, *(each.lineno for each in function.decorator_list)])


def _only_passes_on(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    if len(body) != 1 or not isinstance(body[0], ast.Expr | ast.Return) or body[0].value is None:
        return False
    value = body[0].value
    parts = (
        [value.func, *value.args, *(each.value for each in value.keywords)]
        if isinstance(value, ast.Call)
        else [value]
    )
    return all(isinstance(part, ast.Name | ast.Attribute | ast.Constant | ast.Starred) for part in parts)


@contextmanager
def traced() -> Iterator[Trace]:
    """Note what the library does in this thread within the block."""
    trace = Trace()
    sys.setprofile(trace.note)
    try:
        yield trace
    finally:
        sys.setprofile(None)
