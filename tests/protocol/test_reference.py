"""The committed reference pages and TypeScript types are what the code's tables say."""

import re
from pathlib import Path

from rows import each_row

from truc_docs.field_words import field_lines
from truc_docs.protocol.pages import PAGES, write
from truc_docs.protocol.typescript import types_file
from truc_protocol.messages import MESSAGES, Info, SeatState

DOCS = Path(__file__).parents[2] / "docs" / "protocol"


@each_row("name", PAGES)
def test_page_is_fresh(name):
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name]()


@each_row("form", [form.message for row in MESSAGES for form in row.forms] + [Info, SeatState])
def test_every_field_has_its_line(form):
    assert set(form.__struct_fields__) <= set(field_lines(form))


def test_pages_are_written_into_the_folder(tmp_path):
    write(tmp_path)
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert written == set(PAGES)


NAMES = {form.message.__name__ for row in MESSAGES for form in row.forms}


def test_every_form_has_an_interface_and_every_type_named_is_defined():
    text = types_file()
    defined = {*re.findall(r"^export (?:interface|type) (\w+)", text, re.MULTILINE), "Array", "Uint8Array"}
    code = re.sub(r"/\*\*.*?\*/|//.*", "", text)
    assert {*re.findall(r"(?<=[ <|\[])([A-Z]\w+)(?=[;>, \[\]])", code)} <= defined
    assert not NAMES - defined
