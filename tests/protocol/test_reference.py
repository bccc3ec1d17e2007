"""The committed reference pages are what the code's tables say."""

import sys
from pathlib import Path
from runpy import run_module

import pytest

from truc_docs.protocol.messages import messages_page
from truc_docs.protocol.pages import PAGES, write
from truc_docs.protocol.registries import errors_page
from truc_docs.protocol.states import connection_page
from truc_protocol.errors import Code
from truc_protocol.messages import MESSAGES, Info, SeatState
from truc_protocol.wire.connection import TRANSITIONS, State
from truc_words.variant_files import field_lines

DOCS = Path(__file__).parents[2] / "docs" / "protocol"


@pytest.mark.parametrize("name", PAGES)
def test_page_is_fresh(name):
    assert (DOCS / name).read_text(encoding="utf-8") == PAGES[name]()


def test_every_message_has_a_section():
    page = messages_page()
    assert all(f"\n### {row.tag}\n" in page for row in MESSAGES)


def test_every_code_has_a_section():
    page = errors_page()
    assert all(f"\n### {code}\n" in page for code in Code)


def test_every_step_of_the_handshake_is_listed():
    page = connection_page()
    steps = [
        step for step, after in TRANSITIONS.items() if after not in (step[0], State.CLOSED, State.CLOSING)
    ]
    assert all(
        f"| {state.name} | {role} | `{tag}` | {TRANSITIONS[state, role, tag].name} |" in page
        for state, role, tag in steps
    )


def test_every_link_inside_the_messages_leads_somewhere():
    page = messages_page()
    headings = [line.removeprefix("### ").lower() for line in page.splitlines() if line.startswith("### ")]
    anchors = {f"{name}-{headings[:i].count(name)}".removesuffix("-0") for i, name in enumerate(headings)}
    links = {part.split(")")[0] for part in page.split("](#")[1:]}
    assert links <= anchors


@pytest.mark.parametrize("form", [form.message for row in MESSAGES for form in row.forms] + [Info, SeatState])
def test_every_field_has_its_line(form):
    assert set(form.__struct_fields__) <= set(field_lines(form))


def test_pages_are_written_into_the_folder(tmp_path):
    write(tmp_path)
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert written == set(PAGES)


def test_module_writes_into_the_folder_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["reference", str(tmp_path)])
    run_module("truc_docs.protocol", run_name="__main__")
    assert (tmp_path / "errors.md").read_text(encoding="utf-8") == errors_page()
