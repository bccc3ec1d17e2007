"""The committed page of params is what the fields of a variant and the presets say."""

import json
import sys
from pathlib import Path
from runpy import run_module

import pytest

from truc_protocol.codec import enc
from truc_protocol.documents import rule_document
from truc_protocol.reference_rules import parameters_page
from truc_protocol.rules_page import SENTENCES
from truc_rules import params, preset, presets

PAGE = Path(__file__).parents[2] / "docs" / "rules" / "parameters.md"


def test_page_is_fresh():
    assert PAGE.read_text(encoding="utf-8") == parameters_page()


@pytest.mark.parametrize("name", [name for name, _ in params(preset("truc-french"))])
def test_param_has_its_shape_its_meaning_and_its_value_in_every_preset(name):
    rows = [line for line in parameters_page().splitlines() if line.startswith(f"| `{name}` |")]
    assert (rows[0].count(" | "), rows[-1].count(" | ")) == (2, len(presets()))


@pytest.mark.parametrize("field", ["redeal.max", "last_point.share", "scoring.target"])
def test_field_of_a_group_is_listed(field):
    assert f"\n| `{field}` |" in parameters_page()


@pytest.mark.parametrize("known", presets())
@pytest.mark.parametrize("name", ["hand_rule", "concede", "cap", "ask_window", "tie_leader"])
def test_value_of_a_preset_is_told_as_on_its_own_page(name, known):
    variant = preset(known)
    row = f'| `{name}` | `"{getattr(variant, name)}"` | {SENTENCES[name](variant)} |'
    assert row in parameters_page()


def test_value_that_no_preset_has_is_told():
    assert (
        '| `hand_rule` | `"put"` | The hand is won by two tricks or by the only trick won. |'
        in parameters_page()
    )


def test_document_of_the_page_is_that_of_the_preset():
    example = json.loads(parameters_page().split("```json\n")[1].split("```")[0])
    assert enc(example) == rule_document(preset("truc-french"))


def test_page_is_written_into_the_folder_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["reference_rules", str(tmp_path)])
    monkeypatch.delitem(sys.modules, "truc_protocol.reference_rules")
    run_module("truc_protocol.reference_rules", run_name="__main__")
    assert (tmp_path / "parameters.md").read_text(encoding="utf-8") == parameters_page()
