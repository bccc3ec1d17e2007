"""Messages: every kind survives the way there and back, and what does not fit is refused by name and place."""

import msgspec
import pytest
from rows import each_row

from truc_docs.protocol.examples import EXAMPLES, INFO
from truc_protocol.codec import pack, unpack
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages import (
    MESSAGES,
    Direction,
    Join,
    MatchRecord,
    Ok,
    OpenOptions,
    PastRecord,
    TableState,
    decode_info,
    encode_info,
    encode_up_to_clock,
    refusal,
    tag_of,
)
from truc_protocol.records import Record
from truc_protocol.wire.encoding import MessageError, decode, encode

TO_SERVER, TO_CLIENT = Direction.TO_SERVER, Direction.TO_CLIENT


def refused(fields, direction=TO_SERVER):
    with pytest.raises(MessageError) as caught:
        decode(pack(fields), direction)
    return caught.value


@each_row("direction, message", EXAMPLES)
def test_message_comes_back_from_its_shortest_form_also_beside_a_field_of_later(direction, message):
    encoded = encode(message)
    assert decode(encoded, direction) == message
    assert encoded == pack(unpack(encoded))
    assert decode(pack(unpack(encoded) | {"x-later": [1, {"a": None}]}), direction) == message


def test_tables_in_an_answer_are_sent_in_their_shortest_form():
    tables = tuple(message for _, message in EXAMPLES if isinstance(message, TableState))
    answer = encode(Ok(re=1, tables=tables))
    assert answer == pack(unpack(answer))


def test_every_form_of_every_message_has_an_example():
    forms = {(row.direction, form.message) for row in MESSAGES for form in row.forms}
    assert {(direction, type(message)) for direction, message in EXAMPLES} == forms


def test_row_has_its_tag_alone_in_its_direction_and_frozen_forms_that_share_it_told_apart_by_marks():
    keys = [(row.direction, row.tag) for row in MESSAGES]
    assert len(set(keys)) == len(keys)
    for row in MESSAGES:
        assert {tag_of(form.message) for form in row.forms} == {row.tag}
        assert [form.mark is None for form in row.forms] == [False] * (len(row.forms) - 1) + [True]
        assert all(form.message.__struct_config__.frozen for form in row.forms)


def test_reply_of_every_request_goes_back_to_the_client():
    replies = {tag for row in MESSAGES if row.direction is TO_SERVER for tag in row.replies}
    assert replies <= {row.tag for row in MESSAGES if row.direction is TO_CLIENT}


def test_field_that_is_not_set_is_left_out_or_nil_and_one_that_is_stands_as_the_reference_says():
    assert unpack(encode(Join(id=1, table="K7PQ"))) == {"t": "join", "id": 1, "table": "K7PQ"}
    assert decode(pack({"t": "ok", "re": 1, "dup": None}), TO_CLIENT) == Ok(re=1)
    terms = {"t": "terms", "table": "A", "record": [0, b"body", b"sig"], "doc": b""}
    assert decode(pack(terms), TO_CLIENT).record == Record(0, b"body", b"sig")
    options = next(message for _, message in EXAMPLES if type(message) is OpenOptions)
    assert unpack(encode(options))["list"] == [{"key": "play 7e", "kind": "play", "hints": {}}]


def test_bytes_that_are_no_map_are_bad_msgpack():
    with pytest.raises(MessageError, match="expected a map") as caught:
        decode(b"\x01", TO_SERVER)
    assert caught.value.code is Code.BAD_MSGPACK


@each_row(
    "fields, code",
    [
        ({"t": "shuffle", "id": 3}, Code.UNKNOWN_REQUEST),
        ({"t": "options", "id": 3}, Code.UNKNOWN_REQUEST),  # of the other direction
        *(({**without_name, "id": 3}, Code.BAD_MESSAGE) for without_name in ({}, {"t": 5}, {"t": None})),
    ],
)
def test_message_of_no_known_name_is_refused_by_it(fields, code):
    error = refused(fields)
    assert (error.code, error.field, error.re) == (code, "t", 3)


@each_row("request_id", [-1, 2**32, True, "3", None])
def test_request_id_that_is_none_is_not_repeated(request_id):
    assert refused({"t": "leave", "id": request_id, "table": "A"}).re is None


@each_row("fields, field, text",
    [
        ({"t": "leave", "id": 1}, "table", "table: expected this field, got none"),
        ({"t": "leave", "id": 1, "table": 5}, "table", "table: expected `str`, got `int`"),
        ({"t": "leave", "id": True, "table": "A"}, "id", "id: expected `int`, got `bool`"),
        ({"t": "hello", "id": 1, "proto": [1], "cn": "A" * 32}, "cn", "cn: expected `bytes`, got `str`"),
        ({"t": "login", "id": 1, "token": "hunter2"}, "token", "token: expected `str` of length >= 16, got length 7"),
        ({"t": "leave", "id": 1, "table": "A" * 33}, "table", "table: expected `str` of length <= 32, got length 33"),
        ({"t": "ping", "n": -1}, "n", "n: expected `int` >= 0, got -1"),
        ({"t": "hello", "id": 1, "proto": [1, 0], "cn": bytes(32)}, "proto/1", "proto/1: expected `int` >= 1, got 0"),
        ({"t": "hello", "id": 1, "proto": [1], "cn": bytes(31)}, "cn", "cn: expected `bytes` of length >= 32, got length 31"),
        ({"t": "hello", "id": 1, "proto": [1], "cn": bytes(32), "client": {"name": ""}}, "client/name",
         "client/name: expected `str` of length >= 1, got length 0"),
        ({"t": "create", "id": 1, "variant": "x", "options": {"match": [3]}}, "options/*",
         "options/*: expected `int | str`, got `array`"),
        ({"t": "create", "id": 1, "variant": "x", "options": {"match": ""}}, "options/*",
         "options/*: expected `str` of length >= 1, got another"),
        ({"t": "create", "id": 1, "variant": "x", "options": {"": 1}}, "options",
         "options: expected `str` of length >= 1"),
    ],
)  # fmt: skip
def test_wrong_field_is_named_with_what_was_expected_and_what_came(fields, field, text):
    error = refused(fields)
    assert (error.code, error.field, error.message) == (Code.BAD_MESSAGE, field, text)


def test_unknown_value_of_a_closed_list_is_refused():
    table = next(message for _, message in EXAMPLES if tag_of(message) == "table")
    error = refused(unpack(encode(table)) | {"state": "asleep"}, TO_CLIENT)
    assert (error.field, error.message) == ("state", "state: invalid enum value 'asleep'")


def test_refusal_takes_its_flags_from_the_registry_and_is_cut_to_a_readable_length():
    error = refusal(Code.RATE_LIMITED, "x" * 5000, re=4)
    assert (error.re, error.code, error.retryable, error.close) == (4, "rate_limited", True, False)
    assert len(error.msg) == 400


@each_row("kind", [MatchRecord, PastRecord])
def test_a_record_is_signed_by_the_server_or_one_of_sixteen_seats(kind):
    fields = msgspec.inspect.type_info(kind).fields
    (signer,) = [field.type for field in fields if field.name == "signer"]
    assert (signer.ge, signer.le) == (0, 16)


def test_code_and_reason_of_a_later_server_are_read():
    later = {"t": "error", "code": "from_tomorrow", "msg": "", "retryable": False, "close": False}
    assert decode(pack(later), TO_CLIENT).code == "from_tomorrow"
    assert decode(pack({"t": "closed", "table": "A", "reason": "new"}), TO_CLIENT).reason == "new"


def test_info_survives_the_way_there_and_back_also_with_a_limit_of_later():
    assert decode_info(encode_info(INFO)) == INFO
    assert encode_up_to_clock(INFO) + pack(INFO.now_ms) == encode_info(INFO)
    fields = unpack(encode_info(INFO))
    fields["limits"]["chat_per_s"] = 1
    assert decode_info(pack(fields)) == INFO


@each_row("encoded", [b"\x01", pack({"name": "Casa"})])
def test_info_of_another_shape_is_refused(encoded):
    with pytest.raises(RemoteError, match="info: ") as caught:
        decode_info(encoded)
    assert caught.value.field == "info"
