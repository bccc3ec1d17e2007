"""Names: which may be, in which form, and that no two of them look alike."""

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truc_server.lobby import names as names_module
from truc_server.lobby.names import LONGEST, Names, normalised, prototype, script, skeletons
from truc_server.net.peer import RefusedError, tag_of
from truc_server.storage import PlayerKind


def alike(one: str, other: str) -> bool:
    return bool(skeletons(one) & skeletons(other))


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("  Anna   B ", "Anna B"),
        ("\uff21nna", "Anna"),
        ("Jose\u0301", "Jos\u00e9"),
        ("Anna\u00a0B", "Anna B"),
        ("\u2764\ufe0f", "\u2764"),
        ("N\u00fa\u00f1ez-G\u00f3mez O'Brien", "N\u00fa\u00f1ez-G\u00f3mez O'Brien"),
        ("\U0001f600 Joe", "\U0001f600 Joe"),
        ("\u65e5\u672cTaro", "\u65e5\u672cTaro"),
        ("\u65e5\u306e\u30ceTaro", "\u65e5\u306e\u30ceTaro"),
        ("\u0661\u0662\u0663", "\u0661\u0662\u0663"),
        ("a\u0323\u0324\u0325\u0326", "\u1ea1\u0324\u0325\u0326"),
        ("a" * LONGEST, "a" * LONGEST),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
    ],
)
def test_name_is_brought_into_one_form(written, name):
    assert normalised(written) == name


@pytest.mark.parametrize(
    "written",
    [
        " ",
        "a" * (LONGEST + 1),
        "\u0436" * 33,
        "bell\x07",
        "tab\tbed",
        "new\nline",
        "\u202etxet",
        "An\u200bna",
        "An\u200dna",
        "\u200dAnna",
        "\u0915\u094d\u200d",
        "An\u00adna",
        "An\u2060na",
        "\ue000",
        "\u0378",
        "\ud800",
        "\u3164",
        "\u2800",
        "A\U000e0041nna",
        "Anna\U000e0100",
        "\u0301a",
        "a" + "\u0323\u0324\u0325\u0326\u0328",
        "\u0410nna",
        "Olg\u03b1",
        "\u06633",
        "guest-ABCDEFGHIJKLMNOPQRST",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "GUEST-ABCDEFGHIJKLMN0PQRST",
        "guest\u2010ABCDEFGHIJKLMNOPQRST",
        "ABCDEFGHlJKLMNOPQRSTUVWXYZ",
        "\u0391" * 26,
        "\U0001d159",
        "\U00013441",
    ],
)
def test_name_that_misleads_or_cannot_be_seen_is_refused(written):
    with pytest.raises(RefusedError) as refused:
        normalised(written)
    assert (refused.value.code, refused.value.field) == ("bad_message", "name")


@pytest.mark.parametrize("written", ["guest-abcdefghijklmnopqrst", "Maximilian Mustermann Junior"])
def test_name_that_reads_only_a_little_like_a_tag_is_taken(written):
    assert normalised(written) == written


@given(st.binary(min_size=16, max_size=32), st.sampled_from(PlayerKind))
def test_no_tag_can_be_a_name(player, kind):
    with pytest.raises(RefusedError, match="tag of a player"):
        normalised(tag_of(kind, player))


def test_refusal_of_mixed_scripts_names_them():
    with pytest.raises(RefusedError, match="CYRILLIC and LATIN"):
        normalised("\u0410nna")


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.text(max_size=70))
def test_name_in_its_form_stays_as_it_is(written):
    try:
        name = normalised(written)
    except RefusedError:
        return
    assert normalised(name) == name


@settings(max_examples=50, deadline=None)
@given(st.text(max_size=70))
def test_name_that_is_taken_is_short_and_shows_all_it_holds(written):
    try:
        name = normalised(written)
    except RefusedError:
        return
    hidden = [c for c in name if unicodedata.category(c) in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}]
    assert (1 <= len(name.encode()) <= LONGEST, hidden) == (True, [])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna", "anna"),
        ("Anna", "ANNA"),
        ("Anna", "\u0410nn\u0430"),
        ("Ivan", "lvan"),
        ("lvan", "1van"),
        ("Ivan", "ivan"),
        ("Bob", "B0b"),
        ("modern", "modem"),
        ("Modern", "Modem"),
        ("\u041e\u0441\u0430", "Oca"),
        ("seat1", "seatl"),
        ("d\u2019Artagnan", "d'Artagnan"),
    ],
)
def test_names_that_look_alike_are_found(one, other):
    assert alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna", "Anne"),
        ("Jos\u00e9", "Jose"),
        ("Ana", "A\u00f1a"),
        ("Anna 2", "Anna 3"),
        ("seat10", "seat12"),
        ("\u0418\u0432\u0430\u043d", "Ivan"),
    ],
)
def test_names_that_do_not_look_alike_are_kept_apart(one, other):
    assert not alike(one, other)


def test_look_alikes_lead_to_one_character():
    assert {prototype(character) for character in "Il1|\u0399\u0406"} == {"l"}


def test_what_looks_like_two_letters_leads_to_them():
    assert prototype("m") == "rn"


@pytest.mark.parametrize(("character", "of"), [("a", "LATIN"), ("\u0436", "CYRILLIC"), ("2", "COMMON")])
def test_script_of_a_character_is_known(character, of):
    assert script(character) == of


@pytest.mark.slow
def test_tables_are_not_read_by_a_start():
    code = "import truc_server.server, truc_server.lobby.names as c; print(c._prototypes.cache_info().misses)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"


class TestNames:
    def test_first_of_a_name_has_it(self):
        assert Names().give(b"a", "Anna") == "Anna"

    @pytest.mark.parametrize("wanted", ["Anna", "anna", "ANNA"])
    def test_second_of_a_name_gets_a_number(self, wanted):
        names = Names()
        names.give(b"a", "Anna")
        assert names.give(b"b", wanted) == f"{wanted} 2"

    def test_third_of_a_name_gets_the_next_number(self):
        names = Names()
        assert [names.give(player, "Anna") for player in (b"a", b"b", b"c")] == ["Anna", "Anna 2", "Anna 3"]

    def test_name_with_a_number_that_is_taken_gets_another_number(self):
        names = Names()
        names.give(b"a", "Anna 2")
        assert names.give(b"b", "Anna 2") == "Anna 3"

    def test_number_makes_no_new_look_alike(self):
        names = Names()
        names.give(b"a", "Bob")
        names.give(b"b", "B0b 2")
        assert names.give(b"c", "Bob") == "Bob 3"

    def test_player_keeps_the_name_on_every_connection(self):
        names = Names()
        names.give(b"a", "Anna")
        names.give(b"b", "Anna")
        assert names.give(b"b", "Anna") == "Anna 2"

    def test_player_keeps_the_number_when_who_had_the_name_before_is_gone(self):
        names = Names()
        names.give(b"a", "Anna")
        names.give(b"b", "Anna")
        names.drop(b"a")
        assert names.give(b"b", "Anna") == "Anna 2"

    def test_player_who_asks_for_another_name_gets_it(self):
        names = Names()
        names.give(b"a", "Anna")
        assert names.give(b"a", "Bea") == "Bea"

    def test_name_that_a_player_has_given_up_is_free(self):
        names = Names()
        names.give(b"a", "Anna")
        names.give(b"a", "Bea")
        assert names.give(b"b", "Anna") == "Anna"

    def test_name_of_who_is_gone_is_free(self):
        names = Names()
        names.give(b"a", "Anna")
        names.drop(b"a")
        assert names.give(b"b", "Anna") == "Anna"

    def test_nothing_is_kept_of_who_is_gone(self):
        names = Names()
        names.give(b"a", "Anna")
        names.keep(b"b", "Bea")
        for player in (b"a", b"b"):
            names.drop(player)
        assert len(names) == 0

    def test_name_that_is_kept_is_taken(self):
        names = Names()
        names.keep(b"a", "Anna")
        assert names.give(b"b", "Anna") == "Anna 2"

    def test_kept_names_may_look_alike(self):
        names = Names()
        names.keep(b"a", "Anna")
        names.keep(b"b", "Anna")
        assert (names.of(b"a"), names.of(b"b")) == ("Anna", "Anna")

    def test_kept_name_stays_taken_when_another_who_has_it_is_gone(self):
        names = Names()
        names.keep(b"a", "Anna")
        names.keep(b"b", "Anna")
        names.drop(b"b")
        assert names.give(b"c", "Anna") == "Anna 2"

    @pytest.mark.parametrize(
        ("wanted", "kept"), [("\u0436" * 32, "\u0436" * 31), ("\u65e5" * 21, "\u65e5" * 20)]
    )
    def test_name_with_a_number_is_not_longer_than_any(self, wanted, kept):
        names = Names()
        names.give(b"a", wanted)
        assert names.give(b"b", wanted) == f"{kept} 2"

    @pytest.mark.parametrize("wanted", ["Anna", "aNNA", "\u0391\u039d\u039d\u0391"])
    def test_number_costs_no_more_where_a_thousand_have_the_name(self, wanted, monkeypatch):
        names, looked = Names(), []
        for i in range(1_000):
            names.give(i.to_bytes(2), "Anna")

        def looking(name):
            looked.append(name)
            return skeletons(name)

        monkeypatch.setattr(names_module, "skeletons", looking)
        names.give(b"a", wanted)
        assert len(looked) < 30

    def test_thousand_of_a_name_are_told_apart(self):
        names = Names()
        assert len({names.give(i.to_bytes(2), "Anna") for i in range(1_000)}) == 1_000
