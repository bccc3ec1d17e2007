from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row

from truc_protocol.checks import CheckError
from truc_protocol.codec import dec, enc
from truc_protocol.documents import MAX_DOCUMENT, read_document, rule_document
from truc_rules import preset, presets, with_options

FRENCH = rule_document(preset("truc-french"))
ITEMS = dec(FRENCH)


@each_row("name", presets())
def test_document_alone_rebuilds_the_variant(name):
    assert read_document(rule_document(preset(name))) == preset(name)


def test_whoever_reads_the_same_document_has_the_same_variant():
    assert read_document(FRENCH) is read_document(enc(ITEMS))


def test_house_rules_travel_in_the_document():
    house = replace(with_options(preset("truc-french"), {"reveal": "match"}), absent="concede", name="ours")
    assert read_document(rule_document(house)) == house


def test_params_stand_in_ascending_order():
    names = [name for name, _ in ITEMS[5]]
    assert names == sorted(names)


@each_row(
    "document",
    [
        b"",
        b"\xc1",
        FRENCH + b"\x00",
        enc("truc/1/rules"),
        enc(["truc/2/rules", *ITEMS[1:]]),
        enc([ITEMS[0], 2, *ITEMS[2:]]),
        enc([ITEMS[0], True, *ITEMS[2:]]),
        enc([*ITEMS[:3], True, *ITEMS[4:]]),
        enc([*ITEMS[:3], 0, *ITEMS[4:]]),
        enc([*ITEMS[:4], [1, 2], ITEMS[5]]),
        enc([*ITEMS[:4], ITEMS[4][:4], ITEMS[5]]),
        enc([*ITEMS[:4], [*ITEMS[4][:-1], ""], ITEMS[5]]),
        enc([*ITEMS[:5], ITEMS[5][::-1]]),
        enc([*ITEMS[:5], ITEMS[5][1:]]),
        enc([*ITEMS[:5], [*ITEMS[5], ["zzz", 1]]]),
        enc([*ITEMS[:5], [ITEMS[5][0], *ITEMS[5]]]),
        enc([*ITEMS[:5], [*ITEMS[5], "loose"]]),
        enc([*ITEMS, 0]),
        enc(["truc/1/rules", *["x" * 255] * 80]),
    ],
)
def test_document_that_is_none_is_refused(document):
    with pytest.raises(CheckError, match="C5"):
        read_document(document)


@each_row(
    "extra, said",
    [
        (["pieces", []], "expected ascending names in every group, and no default"),
        (["poker", 1], "turnup.poker: expected no such field"),
    ],
)
def test_document_that_says_a_default_or_an_unknown_name_is_refused(extra, said):
    tag, engine, name, version, pack, params = dec(rule_document(preset("truco-paulista")))
    more = [[param, sorted([*value, extra]) if param == "turnup" else value] for param, value in params]
    with pytest.raises(CheckError, match=said):
        read_document(enc([tag, engine, name, version, pack, more]))


def test_document_longer_than_the_limit_is_refused():
    with pytest.raises(CheckError, match=str(MAX_DOCUMENT)):
        read_document(bytes(MAX_DOCUMENT + 1))


@each_row("at", range(len(ITEMS[5])))
@each_row("value", [[[["deep"]]], b"bytes", 2**53 - 1])
def test_senseless_param_is_refused_or_read(at, value):
    params = [*ITEMS[5][:at], [ITEMS[5][at][0], value], *ITEMS[5][at + 1 :]]
    document = enc([*ITEMS[:5], params])
    with suppress(CheckError):
        assert rule_document(read_document(document)) == document


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 99) | st.sampled_from(["", "A", "7s", "any"]) | st.just(b"x"),
    lambda children: st.lists(children, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(1, 5), st.integers(0, 40), VALUES)
def test_changed_document_is_refused_or_read_as_written(field, place, value):
    items = [*ITEMS]
    if isinstance(items[field], list):
        at = place % len(items[field])
        items[field] = [*items[field][:at], value, *items[field][at + 1 :]]
    else:
        items[field] = value
    document = enc(items)
    with suppress(CheckError):
        assert rule_document(read_document(document)) == document
