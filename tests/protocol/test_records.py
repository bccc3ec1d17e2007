import msgspec
import pytest
from protocol.peers import Table
from rows import each_row

from truc_protocol import records
from truc_protocol.bodies import AnyBody, Call
from truc_protocol.checks import CHECKS, CheckError, role_name
from truc_protocol.codec import dec, enc
from truc_protocol.records import KINDS, Binding, Phase, Record, parse, tag_of

H = bytes(range(32))
CALL = Call(H, 7, H, 1, 2, 3, 0, (0, 1, 2))


def test_table_of_kinds_holds_every_body_once():
    assert [kind.body for kind in KINDS] == list(AnyBody.__args__)


def test_tag_names_protocol_and_version():
    assert {tag_of(kind.body).rsplit("/", 1)[0] for kind in KINDS} == {"truc/1"}


def test_parse_returns_the_body_that_was_encoded():
    assert parse(Record(0, records.encode(CALL), bytes(64))) == CALL


def test_every_record_of_a_match_survives_parsing_and_encoding():
    table = Table("truc-catalan", seats=4, guests=(2,)).run()
    assert [records.encode(parse(record)) for record in table.records] == [
        record.body for record in table.records
    ]


def test_own_bodies_are_written_and_read_as_all_others_are():
    table = Table("truc-catalan", seats=4, guests=(2,)).run()
    read = [(records.parse_own(record), parse(record)) for record in table.records]
    assert [own for own, _ in read] == [body for _, body in read]
    assert [records.encode_own(body) for body, _ in read] == [record.body for record in table.records]


@each_row("kind", KINDS)
def test_bound_kinds_begin_with_match_position_and_head(kind):
    names = [info.name for info in msgspec.structs.fields(kind.body)]
    assert (names[:3] == ["mid", "k", "head"]) == (kind.binding is not Binding.SETUP)


@each_row("kind", KINDS)
def test_setup_kinds_stand_in_the_setup_alone(kind):
    assert (Phase.SETUP in kind.phases) == (kind.binding is Binding.SETUP)


def test_releases_and_acks_are_the_parallel_kinds():
    assert [kind.body.__name__ for kind in KINDS if kind.binding is Binding.PARALLEL] == [
        "Release",
        "Ack",
        "Keys",
    ]


def test_unsigned_nonsense_blames_nobody():
    with pytest.raises(CheckError) as caught:
        parse(Record(1, b"\xc1", bytes(64)))
    assert (caught.value.check, caught.value.culprit) == ("C1", None)


@each_row("field", range(1, 9))
def test_nil_in_place_of_any_field_is_refused(field):
    items = dec(records.encode(CALL))
    body = enc([*items[:field], None, *items[field + 1 :]])
    with pytest.raises(CheckError, match="C2"):
        parse(Record(0, body, bytes(64)))


def test_role_names_count_the_server_first():
    assert (role_name(0), role_name(1)) == ("server", "seat 0")


def test_unknown_check_cannot_be_raised():
    with pytest.raises(KeyError):
        CheckError("C99", "no such check")


@each_row("culprit, told", [("server", "C14 (server): no link"), (None, "C14: no link")])
def test_error_names_check_reason_and_blame_if_there_is_any(culprit, told):
    assert str(CheckError("C14", "no link", culprit)) == told


def test_checks_are_numbered_without_a_gap():
    assert list(CHECKS) == [f"C{number}" for number in range(1, 53)]
