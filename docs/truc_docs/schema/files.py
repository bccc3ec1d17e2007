"""The messages as JSON Schema 2020-12, and every file of docs/protocol/schema that is frozen.

The schemas are made from the message classes alone. They describe the JSON projection: `bin` is base64, and everything
else is as it is.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import inspect as types

from truc_docs.field_words import field_lines, summary, type_text
from truc_docs.schema.changes import Change, Schema, changes
from truc_docs.schema.registries import registries
from truc_protocol.messages import MESSAGES, Direction, Info

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_REF: Final = "#/$defs/{name}"
_ANYTHING: Final = "anything"
_NOTE: Final = "Fields that are not listed are ignored; a field that is nil counts as absent."


SCHEMAS: Final[Mapping[str, Callable[[], Schema]]] = MappingProxyType(
    {
        "client-to-server.json": lambda: of_direction(Direction.TO_SERVER),
        "server-to-client.json": lambda: of_direction(Direction.TO_CLIENT),
        "info.json": lambda: _schema(
            "info", "What a server says about itself, inside its hello.", {"info": Info}
        ),
    }
)
FILES: Final[Mapping[str, Callable[[], Schema]]] = MappingProxyType(
    {**SCHEMAS, "registries.json": registries}
)


def text_of(schema: Schema) -> str:
    """Return the text of a schema, as it is committed."""
    return json.dumps(schema, indent=1, ensure_ascii=False) + "\n"


def accept(folder: Path) -> None:
    """Write every file into `folder`."""
    for name, schema in FILES.items():
        (folder / name).write_text(text_of(schema()), encoding="utf-8")


def differences(folder: Path) -> Iterator[Change]:
    """Yield what has changed since the files in `folder` were accepted; a file that differs only in words is one change."""
    for name, made in FILES.items():
        accepted, present = (folder / name).read_text(encoding="utf-8"), text_of(made())
        if accepted != present:
            moved = changes(json.loads(accepted), json.loads(present))
            yield from moved or (Change(name, "other words", is_breaking=False),)


def of_direction(direction: Direction) -> Schema:
    """Return the schema of whatever one end sends."""
    forms: dict[str, type[msgspec.Struct]] = {}
    for row in MESSAGES:
        if row.direction is direction:
            several = len(row.forms) > 1
            forms |= {
                f"{row.tag}-{form.mark or 'plain'}" if several else row.tag: form.message
                for form in row.forms
            }
    slug = direction.value.replace(" ", "-")
    return _schema(slug, f"A message from {direction.value}.", forms)


def _schema(slug: str, title: str, roots: Mapping[str, type[msgspec.Struct]]) -> Schema:
    """Put the classes together; a root is named after its tag, a map inside a message after its class."""
    _, components = msgspec.json.schema_components(roots.values(), schema_hook=_hook, ref_template=_REF)
    names = {kind.__name__: name for name, kind in roots.items()}
    components = _renamed(
        components, {_REF.format(name=old): _REF.format(name=new) for old, new in names.items()}
    )
    kinds = {kind.__name__: kind for kind in _structs(tuple(roots.values()))}
    defs = {names.get(name, name): _described(part, kinds.get(name)) for name, part in components.items()}
    return {
        "$schema": _DIALECT,
        "$id": f"urn:truc:1:{slug}",
        "title": title,
        "description": _NOTE,
        "anyOf": [{"$ref": _REF.format(name=name)} for name in roots],
        "$defs": {name: defs[name] for name in sorted(defs)},
    }


def _hook(kind: type) -> dict[str, object]:
    """Let a field without a type of its own hold anything."""
    return {"$comment": _ANYTHING}


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    """Make every reference to a message name it by its tag."""
    match part:
        case {"$ref": str(name)}:
            return part | {"$ref": names.get(name, name)}
        case dict():
            return {key: _renamed(value, names) for key, value in part.items()}
        case list():
            return [_renamed(value, names) for value in part]
        case _:
            return part


def _structs(kinds: tuple[type[msgspec.Struct], ...]) -> Iterator[type[msgspec.Struct]]:
    """Yield the classes, and those inside their fields."""
    for kind in kinds:
        yield kind
        for field in msgspec.structs.fields(kind):
            yield from _structs(tuple(_inside(types.type_info(field.type))))


def _inside(kind: types.Type) -> Iterator[type[msgspec.Struct]]:
    match kind:
        case types.StructType(cls):
            yield cls
        case types.VarTupleType(item):
            yield from _inside(item)
        case types.UnionType(members):
            for member in members:
                yield from _inside(member)
        case _:
            pass


def _described(part: dict[str, object], kind: type[msgspec.Struct] | None) -> dict[str, object]:
    """Describe each field as the reference does, with its type on the wire as a comment."""
    part = {name: value for name, value in part.items() if name != "title"}
    properties = part.get("properties")
    if kind is None or not isinstance(properties, dict):
        return part
    lines = field_lines(kind)
    for field in msgspec.structs.fields(kind):
        comment = type_text(types.type_info(field.type))
        described = properties[field.encode_name] | {"description": lines[field.name], "$comment": comment}
        properties = properties | {field.encode_name: described}
    return part | {"description": summary(kind), "properties": properties}


def main(arguments: list[str] | None = None) -> int:
    """Compare the committed schemas with the code, or write them; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="truc_docs.schema", description="The frozen schemas of the messages."
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--check", type=Path, metavar="DIR", help="tell what has moved, and fail if anything has"
    )
    which.add_argument("--accept", type=Path, metavar="DIR", help="write the schemas as they are now")
    chosen = parser.parse_args(arguments)
    if chosen.accept is not None:
        accept(chosen.accept)
        return 0
    moved = list(differences(chosen.check))
    for change in moved:
        sys.stdout.write(f"{change.verdict}: {change.where}: {change.what}\n")
    return 1 if moved else 0
