"""Which changes of the messages may be made without a new protocol number, and which may not."""

import copy

from rows import each_row

from truc_docs.schema.changes import changes

BEFORE = {
    "title": "A message.",
    "anyOf": [{"$ref": "#/$defs/join"}, {"$ref": "#/$defs/leave"}],
    "$defs": {
        "join": {
            "description": "Take a seat.",
            "type": "object",
            "properties": {
                "t": {"enum": ["join"]},
                "table": {"type": "string", "maxLength": 32},
                "seat": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                "kind": {"enum": ["key", "guest"]},
            },
            "required": ["t", "table"],
        },
        "leave": {"type": "object", "properties": {"t": {"enum": ["leave"]}}, "required": ["t"]},
    },
}


def changed(change):
    after = copy.deepcopy(BEFORE)
    change(after, after["$defs"]["join"])
    return changes(BEFORE, after)


def new_message(after, join):
    after["$defs"]["sit"] = join
    after["anyOf"].append({"$ref": "#/$defs/sit"})


def new_optional_field(after, join):
    join["properties"]["note"] = {"type": "string"}


def new_value_of_a_list(after, join):
    join["properties"]["kind"]["enum"].append("bot")


def new_required_field(after, join):
    join["properties"]["note"] = {"type": "string"}
    join["required"].append("note")


def field_becomes_required(after, join):
    join["required"].append("seat")


def field_becomes_optional(after, join):
    join["required"].remove("table")


def field_is_gone(after, join):
    del join["properties"]["seat"]


def message_is_gone(after, join):
    del after["$defs"]["leave"]
    after["anyOf"].pop()


def another_bound(after, join):
    join["properties"]["table"]["maxLength"] = 64


def bound_is_gone(after, join):
    del join["properties"]["table"]["maxLength"]


def another_type(after, join):
    join["properties"]["table"]["type"] = "integer"


def one_more_type(after, join):
    join["properties"]["seat"]["anyOf"].append({"type": "string"})


def another_default(after, join):
    join["properties"]["seat"]["default"] = 0


def value_is_gone(after, join):
    join["properties"]["kind"]["enum"].remove("guest")


@each_row("change", [new_message, new_optional_field, new_value_of_a_list])
def test_may_be_added(change):
    found = changed(change)
    assert found
    assert not any(each.is_breaking for each in found)


@each_row(
    "change",
    [
        new_required_field,
        field_becomes_required,
        field_becomes_optional,
        field_is_gone,
        message_is_gone,
        another_bound,
        bound_is_gone,
        another_type,
        one_more_type,
        another_default,
        value_is_gone,
    ],
)
def test_needs_a_new_protocol_number(change):
    assert any(each.is_breaking for each in changed(change))


def test_words_and_the_order_of_messages_are_no_change():
    def other_words(after, join):
        after["title"] = join["description"] = "Other words."
        after["anyOf"].reverse()

    assert changed(other_words) == ()


def test_change_names_the_field_what_has_become_of_it_and_what_it_asks_for():
    (change,) = changed(another_bound)
    assert (change.where, change.what) == ("$defs/join/properties/table/maxLength", "was 32, is 64")
    assert change.verdict == "needs a new protocol number"
    assert changed(new_optional_field)[0].verdict == "may be added"
