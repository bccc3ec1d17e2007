"""The listing of every public name with its signature, docs/clients/api.txt: `python -m truc_docs.client_api`.

A test compares it with the code, so that no public name changes unnoticed. Invariant: it says only what the code says.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, Final

import truc_client

PAGE: Final = "api.txt"
_HEAD: Final = """\
# What truc_client exports, as it stands in the code. TableState, SeatHeld, PlayerState, PlayedMatch, Standing, LobbyState
# and Info are what the server sent, field by field as in docs/protocol/messages.md; View is that of truc_rules.
# Made by `python -m truc_docs.client_api docs/clients`. Change the code, not this file.
"""
_REWRITTEN: Final = (
    (re.compile(r"<function \S+ at 0x[0-9a-f]+>"), "..."),
    (re.compile(r"Annotated\[int, [^\]]*\]"), "int"),
    (re.compile(r"\b(?:[a-z_][a-z_0-9]*\.)+(?=[A-Za-z])"), ""),
    (re.compile(r"Optional\[(\w+)\]"), r"\1 | None"),
    (re.compile(re.escape(repr(sys.platform))), "platform"),
    (re.compile(r"'"), '"'),
)
"""What differs between versions and machines, or is too long to read, and how it is shown."""


def api_page() -> str:
    """Return the listing."""
    return "\n".join([_HEAD, *(line for name in sorted(truc_client.__all__) for line in _entry(name))])


def _entry(name: str) -> Iterator[str]:
    value = getattr(truc_client, name)
    if inspect.isclass(value):
        yield f"# {_first_line(value)}"
        yield from _class(name, value)
    elif inspect.isfunction(value):
        yield f"# {_first_line(value)}"
        yield _function(name, value)
    else:
        yield f"{name} = {_short(value)}"
    yield ""


def _class(name: str, value: type) -> Iterator[str]:
    """Yield a class with its fields and its methods."""
    base = _base(value)
    yield f"class {name}({base})" if base else f"class {name}"
    held = tuple(_held(value))
    named = {each.partition(":")[0] for each in held}
    for line in (*held, *_members(value, named)):
        yield f"    {line}"


def _base(value: type) -> str:
    if issubclass(value, tuple):
        return "NamedTuple"
    return ", ".join(base.__name__ for base in value.__bases__ if base is not object)


def _held(value: type) -> Iterator[str]:
    """Yield the fields of a value, the members of an enumeration, or the constructor of an error."""
    if issubclass(value, Enum):
        for member in value:
            yield f"{member.name} = {member.value!r}".replace("'", '"')
    elif issubclass(value, tuple) or hasattr(value, "__dataclass_fields__"):
        for field in inspect.signature(value).parameters.values():
            yield _plain(field)
    elif "__init__" in vars(value) and issubclass(value, Exception):
        yield _function("__init__", vars(value)["__init__"])


def _members(value: type, named: set[str]) -> Iterator[str]:
    for name, member in sorted(vars(value).items()):
        if name.startswith("_") or name in named:
            continue
        if isinstance(member, property):
            yield f"{name} -> {_given(member)}  # {_first_line(member)}"
        elif inspect.isfunction(member):
            yield f"{_function(name, member)}  # {_first_line(member)}"


def _given(member: property) -> str:
    """Return the type of a property."""
    return "" if member.fget is None else _plain(inspect.signature(member.fget).return_annotation)


def _function(name: str, function: Any) -> str:
    signature = _plain(inspect.signature(function))
    if hasattr(function, "__wrapped__"):
        return f"async with {name}{signature.replace('AsyncIterator[Connection]', 'Connection')}"
    return f"{'async ' if inspect.iscoroutinefunction(function) else ''}{name}{signature}"


def _plain(annotation: object) -> str:
    """Return a signature or annotation in short: without modules, with public names where there are any."""
    text = _short(annotation)
    for name, expanded in _aliases():
        text = text.replace(expanded, name)
    return text


def _short(annotation: object) -> str:
    text = annotation.__name__ if inspect.isclass(annotation) else str(annotation)
    for pattern, shown in _REWRITTEN:
        text = pattern.sub(shown, text)
    return text


def _aliases() -> Iterator[tuple[str, str]]:
    """Yield the public names of composed types, and how each is written in full."""
    for name in truc_client.__all__:
        value = getattr(truc_client, name)
        if not inspect.isclass(value) and not inspect.isfunction(value):
            yield name, _short(value)


def _first_line(value: Any) -> str:
    return (inspect.getdoc(value) or "").partition("\n")[0]


if __name__ == "__main__":
    (Path(sys.argv[1]) / PAGE).write_text(api_page(), "utf-8")
