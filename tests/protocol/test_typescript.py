"""The TypeScript types: one for each form of each message."""

import re

from truc_docs.protocol.typescript import types_file
from truc_protocol.messages import MESSAGES

NAMES = {form.message.__name__ for row in MESSAGES for form in row.forms}


def test_every_form_has_an_interface():
    assert set(re.findall(r"^export interface (\w+)", types_file(), re.MULTILINE)) >= NAMES


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
