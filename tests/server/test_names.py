"""Names: which may be, in which form, that no two of them look alike; and what players are called on a running server."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import each_row
from server.clocks import pass_time
from server.conftest import running, under
from server.test_terms import hand_in, seat_body, under_terms
from server.visitors import greeted, guest, hang_up, keyed

from truc_protocol.crypto import keys
from truc_server.lobby import names as names_module
from truc_server.lobby.names import LONGEST, LentNames, Names, normalised, prototype, script, skeletons
from truc_server.net.peer import RefusedRequestError, tag_of
from truc_server.storage import PlayerKind


def alike(one: str, other: str) -> bool:
    return bool(skeletons(one) & skeletons(other))


@each_row(
    "written, name",
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
        ("guest-abcdefghijklmnopqrst", "guest-abcdefghijklmnopqrst"),  # only a little like a tag
        ("Maximilian Mustermann Junior", "Maximilian Mustermann Junior"),
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),
        (
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        ),
    ],
)
def test_name_is_brought_into_one_form(written, name):
    assert normalised(written) == name


@each_row(
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
    with pytest.raises(RefusedRequestError) as refused:
        normalised(written)
    assert (refused.value.code, refused.value.field) == ("bad_message", "name")


@given(st.binary(min_size=16, max_size=32), st.sampled_from(PlayerKind))
def test_no_tag_can_be_a_name(player, kind):
    with pytest.raises(RefusedRequestError, match="tag of a player"):
        normalised(tag_of(kind, player))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(st.text(max_size=70))
def test_name_that_is_taken_stays_in_its_form_is_short_and_shows_all_it_holds(written):
    try:
        name = normalised(written)
    except RefusedRequestError:
        return
    assert normalised(name) == name
    hidden = [c for c in name if unicodedata.category(c) in {"Cc", "Cs", "Co", "Cn", "Zl", "Zp"}]
    assert (1 <= len(name.encode()) <= LONGEST, hidden) == (True, [])


@each_row(
    "one, other, are_alike",
    [
        ("Anna", "anna", True),
        ("Anna", "ANNA", True),
        ("Anna", "\u0410nn\u0430", True),
        ("Ivan", "lvan", True),
        ("lvan", "1van", True),
        ("Ivan", "ivan", True),
        ("Bob", "B0b", True),
        ("modern", "modem", True),
        ("Modern", "Modem", True),
        ("\u041e\u0441\u0430", "Oca", True),
        ("seat1", "seatl", True),
        ("d\u2019Artagnan", "d'Artagnan", True),
        ("Anna", "Anne", False),
        ("Jos\u00e9", "Jose", False),
        ("Ana", "A\u00f1a", False),
        ("Anna 2", "Anna 3", False),
        ("seat10", "seat12", False),
        ("\u0418\u0432\u0430\u043d", "Ivan", False),
    ],
)
def test_names_that_look_alike_are_found_and_others_kept_apart(one, other, are_alike):
    assert alike(one, other) is are_alike


def test_look_alikes_lead_to_the_same_characters():
    assert {prototype(character) for character in "Il1|\u0399\u0406"} == {"l"}
    assert prototype("m") == "rn"


def test_script_of_a_character_is_known_and_named_where_two_are_mixed():
    assert [script(character) for character in "a\u04362"] == ["LATIN", "CYRILLIC", "COMMON"]
    with pytest.raises(RefusedRequestError, match="CYRILLIC and LATIN"):
        normalised("\u0410nna")


class TestNames:
    @each_row(
        "given",
        [
            [("a", "Anna", "Anna"), ("b", "Anna", "Anna 2"), ("c", "Anna", "Anna 3")],
            [("a", "Anna", "Anna"), ("b", "anna", "anna 2"), ("c", "ANNA", "ANNA 3")],
            [("a", "Anna 2", "Anna 2"), ("b", "Anna 2", "Anna 3")],
            [("a", "Bob", "Bob"), ("b", "B0b 2", "B0b 2"), ("c", "Bob", "Bob 3")],  # no new look-alike
            [("a", "Anna", "Anna"), ("b", "Anna", "Anna 2"), ("b", "Anna", "Anna 2")],
            [("a", "Anna", "Anna"), ("a", "Bea", "Bea"), ("b", "Anna", "Anna")],
            [("a", "Anna", "Anna"), ("a", "is gone", None), ("b", "Anna", "Anna")],
            [
                ("a", "Anna", "Anna"),
                ("b", "Anna", "Anna 2"),
                ("a", "is gone", None),
                ("b", "Anna", "Anna 2"),  # and keeps the number
            ],
            [("a", "\u0436" * 32, "\u0436" * 32), ("b", "\u0436" * 32, "\u0436" * 31 + " 2")],
            [("a", "\u65e5" * 21, "\u65e5" * 21), ("b", "\u65e5" * 21, "\u65e5" * 20 + " 2")],
        ],
    )
    def test_second_of_a_name_gets_a_number_while_the_first_has_it(self, given):
        names = Names(LentNames())
        for player, wanted, name in given:
            if name is None:
                names.drop(player.encode())
            else:
                assert names.give(player.encode(), wanted) == name

    def test_nothing_is_kept_of_who_is_gone(self):
        names = Names(LentNames())
        names.give(b"a", "Anna")
        names.keep(b"b", "Bea")
        for player in (b"a", b"b"):
            names.drop(player)
        assert len(names) == 0

    @pytest.mark.parametrize("gone", [b"a", b"b"], ids=["first", "second"])
    def test_kept_names_may_look_alike_and_stay_taken_when_one_of_them_is_gone(self, gone):
        names = Names(LentNames())
        names.keep(b"a", "Anna")
        names.keep(b"b", "Anna")
        assert (names.of(b"a"), names.of(b"b")) == ("Anna", "Anna")
        names.drop(gone)
        assert names.give(b"c", "Anna") == "Anna 2"

    def test_name_that_another_takes_the_place_of_is_free(self):
        names = Names(LentNames())
        names.give(b"a", "Anna")
        names.keep(b"a", "Bea")
        assert (names.of(b"a"), names.give(b"b", "Anna")) == ("Bea", "Anna")

    def test_thousand_of_a_name_are_told_apart_and_one_more_costs_no_more(self, monkeypatch):
        names, looked = Names(LentNames()), []
        assert len({names.give(i.to_bytes(2), "Anna") for i in range(1_000)}) == 1_000

        def looking(name):
            looked.append(name)
            return skeletons(name)

        monkeypatch.setattr(names_module, "skeletons", looking)
        for wanted in ("Anna", "aNNA", "\u0391\u039d\u039d\u0391"):
            looked.clear()
            names.give(wanted.encode(), wanted)
            assert len(looked) < 30


FRENCH = {"t": "create", "variant": "truc-french", "options": {"guests": 2}}


async def test_name_is_told_as_it_was_cleaned_and_as_another_where_it_looks_like_one_that_is_taken(server):
    assert (await keyed(server, "  Anna \u00a0 B")).welcome["name"] == "Anna B"
    await keyed(server, "Ivan")
    assert (await guest(server, "lvan")).welcome["name"] == "lvan 2"
    key = keys.generate_signing_key()
    assert [(await keyed(server, "Ivan", key)).welcome["name"] for _ in range(2)] == ["Ivan 3", "Ivan 3"]
    key = keys.generate_signing_key()
    named = f"player {keys.fingerprint(key.public)[:6]}"
    await guest(server, named)
    client = await greeted(server)
    assert (await client.enter(client.auth(key)))["name"] == f"{named} 2"


async def test_name_of_who_has_left_is_free_unless_they_are_seated(server):
    for has_seat, name in ((False, "Anna"), (True, "Anna 2")):
        client = await guest(server, "Anna")
        if has_seat:
            await client.ask(FRENCH)
        await hang_up(client)
        again = await guest(server, "Anna")
        assert again.welcome["name"] == name
        await hang_up(again)


async def test_name_of_who_was_seated_is_taken_after_a_restart(path):
    async with running(path) as server:
        await (await guest(server, "Anna")).ask(FRENCH)
    async with running(path) as server:
        assert (await guest(server, "anna")).welcome["name"] == "anna 2"


@under(tables={"expiry_s": 10}, limits={"idle_s": 3_600, "login_s": 120})
async def test_name_is_free_when_the_last_seat_of_who_is_gone_is_given_up(server, mock_clock):
    client = await guest(server, "Anna")
    await client.ask(FRENCH)
    await hang_up(client)
    await pass_time(mock_clock, 10.01)
    assert (await guest(server, "Anna")).welcome["name"] == "Anna"


async def test_guest_with_a_number_comes_back_with_it(server):
    await guest(server, "Anna")
    client = await guest(server, "Anna")
    await client.ask(FRENCH)
    token = client.welcome["token"]
    await hang_up(client)
    assert (await (await server.connect()).login_token(token))["name"] == "Anna 2"


async def test_player_who_is_seated_keeps_the_name(server):
    key = keys.generate_signing_key()
    await (await keyed(server, "Anna", key)).ask(FRENCH)
    assert (await keyed(server, "Bea", key)).welcome["name"] == "Anna"


async def test_newest_name_of_who_is_not_seated_holds_on_every_connection(server):
    key = keys.generate_signing_key()
    first = await keyed(server, "Anna", key)
    await keyed(server, "Bea", key)
    await first.ask(FRENCH)
    table = await first.until("table")
    assert table["seats"][0]["name"] == "Bea"


async def test_seat_record_is_taken_under_the_name_that_was_given_alone(server):
    await guest(server, "seat10")
    seats, terms = await under_terms(server)
    reply = await hand_in(seats[0], seat_body(seats[0], terms, name=seats[1].name.encode()))
    assert (reply["code"], "as welcome says" in reply["msg"]) == ("terms_refused", True)
    reply = await hand_in(seats[0], seat_body(seats[0], terms))
    assert (seats[0].name, reply["t"]) == ("seat10 2", "ok")
