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


def test_table_of_kinds_holds_every_body_once_under_a_tag_of_this_version():
    assert [kind.body for kind in KINDS] == list(AnyBody.__args__)
    assert {tag_of(kind.body).rsplit("/", 1)[0] for kind in KINDS} == {"truc/1"}


def test_every_record_of_a_match_survives_parsing_and_encoding_as_ones_own_does():
    table = Table("truc-catalan", seats=4, guests=(2,)).run()
    for record in table.records:
        body = parse(record)
        assert records.parse_own(record) == body
        assert records.encode(body) == records.encode_own(body) == record.body


@each_row("kind", KINDS)
def test_kinds_beyond_the_setup_begin_with_match_position_and_head(kind):
    names = [info.name for info in msgspec.structs.fields(kind.body)]
    is_setup = kind.binding is Binding.SETUP
    assert (names[:3] != ["mid", "k", "head"], Phase.SETUP in kind.phases) == (is_setup, is_setup)


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


@each_row("culprit, told", [("server", "C14 (server): no link"), (None, "C14: no link")])
def test_error_names_check_reason_and_blame_if_there_is_any(culprit, told):
    assert str(CheckError("C14", "no link", culprit)) == told


def test_checks_are_numbered_without_a_gap_and_no_other_can_be_raised():
    assert list(CHECKS) == [f"C{number}" for number in range(1, 53)]
    with pytest.raises(KeyError):
        CheckError("C99", "no such check")
    assert (role_name(0), role_name(1)) == ("server", "seat 0")
