"""The TypeScript types: one for each form of each message."""

import re

from truc_docs.protocol.typescript import types_file
from truc_protocol.messages import MESSAGES, Direction

NAMES = {form.message.__name__ for row in MESSAGES for form in row.forms}


def test_every_form_has_an_interface():
    assert set(re.findall(r"^export interface (\w+)", types_file(), re.MULTILINE)) >= NAMES


def test_interface_says_which_fields_may_be_absent():
    assert re.search(
        r"interface Join \{\n  t: \"join\";.*?table: string;.*?seat\?: number;", types_file(), re.DOTALL
    )


def test_union_has_every_form_of_its_direction():
    (union,) = re.findall(r"export type ServerMessage =\n(.*?);", types_file(), re.DOTALL)
    forms = [
        form.message.__name__
        for row in MESSAGES
        if row.direction is Direction.TO_CLIENT
        for form in row.forms
    ]
    assert re.findall(r"\| (\w+)", union) == forms


def test_bytes_are_arrays_of_bytes():
    assert "  sig: Uint8Array;" in types_file()


def test_every_type_named_is_defined():
    text = types_file()
    defined = set(re.findall(r"^export (?:interface|type) (\w+)", text, re.MULTILINE)) | {
        "Array",
        "Uint8Array",
    }
    assert (
        set(re.findall(r"(?<=[ <|\[])([A-Z]\w+)(?=[;>, \[\]])", re.sub(r"/\*\*.*?\*/|//.*", "", text)))
        <= defined
    )
