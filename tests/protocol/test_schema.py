"""The frozen schemas: what is committed is what the code sends, and every message of the examples fits."""

import json
import shutil
from functools import cache
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator
from rows import each_row

from truc_docs.protocol.examples import EXAMPLES, INFO
from truc_docs.schema.files import FILES, SCHEMAS, accept, differences, main, text_of
from truc_protocol.messages import MESSAGES, Direction

DOCS = Path(__file__).parents[2] / "docs" / "protocol" / "schema"
FILE_OF = {Direction.TO_SERVER: "client-to-server.json", Direction.TO_CLIENT: "server-to-client.json"}


@cache
def committed(name):
    return json.loads((DOCS / name).read_text(encoding="utf-8"))


@cache
def of_the_way(way):
    """Return what judges a message of one direction."""
    return Draft202012Validator(committed(FILE_OF[way]))


def projected(message):
    return json.loads(msgspec.json.encode(message))


@pytest.fixture(scope="module")
def accepted(tmp_path_factory):
    """Schemas as they are now, made once."""
    folder = tmp_path_factory.mktemp("schemas")
    accept(folder)
    return folder


@pytest.fixture
def folder(accepted, tmp_path):
    """A folder of schemas as they are now."""
    return shutil.copytree(accepted, tmp_path, dirs_exist_ok=True)


@each_row("name", FILES)
def test_schema_is_fresh(name):
    assert (DOCS / name).read_text(encoding="utf-8") == text_of(FILES[name]())


@each_row("name", SCHEMAS)
def test_schema_is_a_schema(name):
    Draft202012Validator.check_schema(committed(name))


@each_row("way, message", EXAMPLES)
def test_example_fits_the_schema_also_with_a_field_that_nobody_knows(way, message):
    of_the_way(way).validate(projected(message))
    assert of_the_way(way).is_valid(projected(message) | {"x-new": [1]})


@each_row("way, message", EXAMPLES)
def test_example_without_a_required_field_does_not_fit(way, message):
    fields = projected(message)
    required = [field.encode_name for field in msgspec.structs.fields(message) if field.required]
    definition = {"$ref": f"#/$defs/{_name(way, message)}", "$defs": committed(FILE_OF[way])["$defs"]}
    validator = Draft202012Validator(definition)
    without = [{key: value for key, value in fields.items() if key != name} for name in [*required, "t"]]
    assert not any(validator.is_valid(each) for each in without)


def _name(way, message):
    row = next(row for row in MESSAGES if row.direction is way and row.tag == projected(message)["t"])
    if len(row.forms) == 1:
        return row.tag
    form = next(form for form in row.forms if form.message is type(message))
    return f"{row.tag}-{form.mark or 'plain'}"


def test_info_fits_its_schema():
    Draft202012Validator(committed("info.json")).validate(projected(INFO))


def test_a_message_of_the_other_direction_does_not_fit():
    bye = {"t": "bye", "code": "moved", "msg": "", "retryable": True}
    assert not Draft202012Validator(committed("client-to-server.json")).is_valid(bye)


def test_every_reference_of_a_schema_leads_somewhere():
    dangling = []
    for name in SCHEMAS:
        text, definitions = json.dumps(committed(name)), committed(name)["$defs"]
        named = {part.split('"')[0] for part in text.split("#/$defs/")[1:]}
        dangling += named - set(definitions)
    assert dangling == []


def test_check_fails_when_the_wire_has_moved(folder, capsys):
    path = folder / "client-to-server.json"
    path.write_text(path.read_text().replace('"maximum": 4294967295', '"maximum": 65535'))
    assert main(["--check", str(folder)]) == 1
    assert "needs a new protocol number: $defs/act-body/properties/id/maximum" in capsys.readouterr().out


def test_check_fails_when_a_message_is_new(folder, capsys):
    before = committed("client-to-server.json")
    del before["$defs"]["seek"]
    before["anyOf"].remove({"$ref": "#/$defs/seek"})
    (folder / "client-to-server.json").write_text(text_of(before))
    assert main(["--check", str(folder)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "may be added: $defs/seek: is new",
        "may be added: anyOf: has seek besides",
    ]


def test_other_words_are_a_change_that_breaks_nothing(folder):
    path = folder / "info.json"
    path.write_text(path.read_text().replace("The games it plays.", "Games."))
    assert [(change.what, change.is_breaking) for change in differences(folder)] == [("other words", False)]


def test_accept_writes_what_check_is_content_with(folder, capsys):
    (folder / "info.json").write_text("{}")
    assert [main([how, str(folder)]) for how in ("--accept", "--check")] == [0, 0]
    assert list(differences(folder)) == []
    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit):
        main([])


@pytest.mark.parametrize(
    ("part", "name", "row", "is_breaking"),
    [
        ("records", "truc/1/share", None, True),
        ("facts", "dealt", None, False),
        ("codes", "too_late", {"closes": False, "retryable": False}, True),
    ],
)
def test_new_kind_of_record_or_a_code_less_needs_a_new_protocol_number_and_a_new_fact_does_not(
    folder, part, name, row, is_breaking
):
    path = folder / "registries.json"
    before = json.loads(path.read_text())
    if row is None:
        del before[part][name]
    else:
        before[part][name] = row
    path.write_text(text_of(before))
    found = [(change.where, change.is_breaking) for change in differences(folder)]
    assert found == [(f"{part}/{name}", is_breaking)]
