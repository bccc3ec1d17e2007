"""Messages: every kind survives the way there and back, and what does not fit is refused by name and place."""

import msgspec
import pytest
from rows import each_row

from truc_docs.protocol.examples import EXAMPLES
from truc_protocol.codec import pack, unpack
from truc_protocol.errors import Code, RemoteError
from truc_protocol.messages import (
    MESSAGES,
    Direction,
    Info,
    Join,
    Limits,
    MatchRecord,
    Ok,
    OpenOptions,
    PastRecord,
    TableClosed,
    TableState,
    VariantOffer,
    decode_info,
    encode_info,
    encode_up_to_clock,
    refusal,
    tag_of,
)
from truc_protocol.records import Record
from truc_protocol.wire.encoding import MessageError, decode, encode

TO_SERVER, TO_CLIENT = Direction.TO_SERVER, Direction.TO_CLIENT
INFO = Info(
    name="Casa",
    software="truc 0.1.0",
    caps={},
    limits=Limits(frame_in=8192, frame_out=65536, idle_s=30, requests_per_s=10, burst=20),
    variants=(VariantOffer(name="truc-french", seats=(2,)),),
    guests=True,
    now_ms=1,
)


def refused(fields, direction=TO_SERVER):
    with pytest.raises(MessageError) as caught:
        decode(pack(fields), direction)
    return caught.value


@each_row("direction, message", EXAMPLES)
def test_message_survives_the_way_there_and_back(direction, message):
    assert decode(encode(message), direction) == message


@each_row("direction, message", EXAMPLES)
def test_message_is_sent_in_its_shortest_form(direction, message):
    assert encode(message) == pack(unpack(encode(message)))


def test_tables_in_an_answer_are_sent_in_their_shortest_form():
    tables = tuple(message for _, message in EXAMPLES if isinstance(message, TableState))
    answer = encode(Ok(re=1, tables=tables))
    assert answer == pack(unpack(answer))


@each_row("direction, message", EXAMPLES)
def test_unknown_field_is_passed_over(direction, message):
    assert decode(pack(unpack(encode(message)) | {"x-later": [1, {"a": None}]}), direction) == message


def test_every_form_of_every_message_has_an_example():
    forms = {(row.direction, form.message) for row in MESSAGES for form in row.forms}
    assert {(direction, type(message)) for direction, message in EXAMPLES} == forms


def test_tag_goes_once_in_each_direction():
    keys = [(row.direction, row.tag) for row in MESSAGES]
    assert len(set(keys)) == len(keys)


def test_forms_of_a_row_share_its_tag():
    assert all(tag_of(form.message) == row.tag for row in MESSAGES for form in row.forms)


def test_only_the_last_form_has_no_mark():
    assert all([form.mark for form in row.forms].index(None) == len(row.forms) - 1 for row in MESSAGES)


def test_reply_of_every_request_goes_back_to_the_client():
    replies = {tag for row in MESSAGES if row.direction is TO_SERVER for tag in row.replies}
    assert replies <= {row.tag for row in MESSAGES if row.direction is TO_CLIENT}


def test_optional_fields_that_are_not_set_are_left_out():
    assert unpack(encode(Join(id=1, table="K7PQ"))) == {"t": "join", "id": 1, "table": "K7PQ"}


def test_nil_means_absent():
    assert decode(pack({"t": "ok", "re": 1, "dup": None}), TO_CLIENT) == Ok(re=1)


def test_record_inside_a_message_is_a_record():
    terms = {"t": "terms", "table": "A", "record": [0, b"body", b"sig"], "doc": b""}
    assert decode(pack(terms), TO_CLIENT).record == Record(0, b"body", b"sig")


def test_options_of_a_guest_stand_under_list():
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
        *(({**without_name, "id": 3}, Code.BAD_MESSAGE) for without_name in ({}, {"t": 5}, {"t": None})),
    ],
)
def test_message_of_no_known_name_is_refused_by_it(fields, code):
    error = refused(fields)
    assert (error.code, error.field, error.re) == (code, "t", 3)


def test_message_of_the_other_direction_is_unknown():
    assert refused({"t": "welcome", "re": 3}).code is Code.UNKNOWN_REQUEST


@each_row("request_id", [-1, 2**32, True, "3", None])
def test_request_id_that_is_none_is_not_repeated(request_id):
    assert refused({"t": "leave", "id": request_id, "table": "A"}).re is None


@each_row("fields, field, text",
    [
        ({"t": "leave", "id": 1}, "table", "table: expected this field, got none"),
        ({"t": "leave", "id": 1, "table": 5}, "table", "table: expected `str`, got `int`"),
        ({"t": "leave", "id": True, "table": "A"}, "id", "id: expected `int`, got `bool`"),
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


def test_str_is_not_taken_for_bytes():
    assert refused({"t": "hello", "id": 1, "proto": [1], "cn": "A" * 32}).field == "cn"


def test_unknown_value_of_a_closed_list_is_refused():
    table = next(message for _, message in EXAMPLES if tag_of(message) == "table")
    error = refused(unpack(encode(table)) | {"state": "asleep"}, TO_CLIENT)
    assert (error.field, error.message) == ("state", "state: invalid enum value 'asleep'")


def test_secret_is_not_shown_in_the_error():
    assert "hunter2" not in refused({"t": "login", "id": 1, "token": "hunter2"}).message


def test_refusal_takes_its_flags_from_the_registry():
    error = refusal(Code.RATE_LIMITED, "expected fewer", re=4)
    assert (error.re, error.code, error.retryable, error.close) == (4, "rate_limited", True, False)


def test_refusal_is_cut_to_a_readable_length():
    assert len(refusal(Code.BAD_OPTION, "x" * 5000).msg) == 400


def test_code_of_a_later_server_is_read():
    later = {"t": "error", "code": "from_tomorrow", "msg": "", "retryable": False, "close": False}
    assert decode(pack(later), TO_CLIENT).code == "from_tomorrow"


@each_row("kind", [MatchRecord, PastRecord])
def test_a_record_is_signed_by_the_server_or_one_of_sixteen_seats(kind):
    fields = msgspec.inspect.type_info(kind).fields
    (signer,) = [field.type for field in fields if field.name == "signer"]
    assert (signer.ge, signer.le) == (0, 16)


def test_reason_of_a_later_server_is_read():
    assert decode(pack({"t": "closed", "table": "A", "reason": "new"}), TO_CLIENT) == TableClosed(
        table="A", reason="new"
    )


def test_info_survives_the_way_there_and_back():
    assert decode_info(encode_info(INFO)) == INFO
    assert encode_up_to_clock(INFO) + pack(INFO.now_ms) == encode_info(INFO)


def test_unknown_limit_is_passed_over():
    fields = unpack(encode_info(INFO))
    fields["limits"]["chat_per_s"] = 1
    assert decode_info(pack(fields)) == INFO


@each_row("encoded", [b"\x01", pack({"name": "Casa"})])
def test_info_of_another_shape_is_refused(encoded):
    with pytest.raises(RemoteError, match="info: ") as caught:
        decode_info(encoded)
    assert caught.value.field == "info"


def test_messages_are_all_frozen_structs():
    assert all(
        issubclass(form.message, msgspec.Struct) and form.message.__struct_config__.frozen
        for row in MESSAGES
        for form in row.forms
    )
