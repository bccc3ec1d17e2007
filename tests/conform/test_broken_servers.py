"""Servers with one fault each: the case that is about it fails, and cites the clause it proves.

Most are the real server with one function replaced; the others stand behind a proxy that alters what it says. Beside
each fault stands the case that must find it.
"""

from types import SimpleNamespace

import msgpack
import msgspec
import pytest
from conform.altering import altered
from server.conftest import QUICK, changed, running
from sqlalchemy import select

from truc_conform import server_cases
from truc_conform.result import CaseVerdict
from truc_protocol import boxes, dealer, dealing, messages
from truc_protocol.codec import dec, pack
from truc_protocol.messages import Direction
from truc_protocol.wire import connection
from truc_protocol.wire.frames import FrameSplitter
from truc_server.lobby import lobby
from truc_server.net import peer
from truc_server.requests import acts, company, login
from truc_server.requests import history as past
from truc_server.spectating import recent_records as tail
from truc_server.spectating import spectator_feed as showing
from truc_server.storage import sql
from truc_server.storage.schema import match_players
from truc_server.table_data import options as table_options
from truc_server.tables import gathering, table

pytestmark = pytest.mark.slow
PATIENCE_S = 0.5
BY_NAME = {case.name: case for case in server_cases.CASES}
SLOW_TALK = {"limits": {"requests_per_s": 10, "burst": 20}}


async def judge(port, name, *, patience_s=PATIENCE_S):
    return await server_cases.judge(BY_NAME[name], f"127.0.0.1:{port}", patience_s=patience_s, hands=2)


# --- the real server with one function replaced -----------------------------------------------------------------------


def loose(frame):
    """Decode as msgpack does by itself: the last of two keys, and nothing said of what stands after the map."""
    unpacker = msgpack.Unpacker(strict_map_key=False)
    unpacker.feed(frame)
    return unpacker.unpack()


def keeps_the_last_of_two_keys(patch):
    patch.setattr(connection, "decode", lambda frame, way: messages.decode(pack(loose(frame)), way))


def passes_over_what_follows_the_map(patch):
    patch.setattr(connection, "decode", lambda frame, way: messages.decode(pack(loose(frame)), way))


def waits_for_endless_frames(patch):
    class Patient(FrameSplitter):
        __slots__ = ()

        def __init__(self, limit):
            super().__init__(2**32)

    patch.setattr(connection, "FrameSplitter", Patient)


def stays_after_a_broken_frame(patch):
    class Forgiving(FrameSplitter):
        __slots__ = ()

        def next_frame(self):
            while self._received[:4] == bytes(4):
                del self._received[:4]
            return super().next_frame()

    patch.setattr(connection, "FrameSplitter", Forgiving)


def closes_without_goodbye(patch):
    refuse = connection.Connection.refuse

    def curt(self, refused):
        said = refuse(self, refused)
        length = 4 + int.from_bytes(said[:4], "big")
        return said[:length]

    patch.setattr(connection.Connection, "refuse", curt)


def says_nothing_to_strangers(patch):
    answer = connection.Connection.answer
    patch.setattr(
        connection.Connection,
        "answer",
        lambda self, failure: answer(self, failure._replace(line=failure.line and b"\x00")),
    )


def refuses_what_it_does_not_know(patch):
    def strict(frame, way):
        message = messages.decode(frame, way)
        known = {field.encode_name for field in msgspec.structs.fields(type(message))} | {"t"}
        if way is Direction.TO_SERVER and set(loose(frame)) - known:
            raise messages.MessageError(connection.Code.BAD_MESSAGE, "an unknown field")
        return message

    patch.setattr(connection, "decode", strict)


def allows_no_second_use_of_an_id(patch):
    def once(self, message, tag):
        if isinstance(message, connection.Request):
            seen = seen_ids.setdefault(id(self), set())
            if message.id in seen:
                raise connection.RemoteError(connection.Code.BAD_MESSAGE, "used before", re=message.id)
            seen.add(message.id)
        return track(self, message, tag)

    seen_ids: dict = {}
    track = connection.Connection._track
    patch.setattr(connection.Connection, "_track", once)


def repeats_its_nonce(patch):
    patch.setattr(login, "token_bytes", bytes)


def takes_logins_of_other_connections(patch):
    patch.setattr(login, "check_login", lambda message, challenge: dec(message.body)[2])


def takes_unsigned_logins(patch):
    check = login.check_login

    def trusting(message, challenge):
        try:
            return check(message, challenge)
        except connection.RemoteError as error:
            if "signature" in error.message:
                return dec(message.body)[2]
            raise

    patch.setattr(login, "check_login", trusting)


def takes_any_name(patch):
    patch.setattr(login, "normalised", str.strip)


def calls_two_players_alike(patch):
    patch.setattr(lobby.Lobby, "named", lambda self, player: player)


def takes_any_name_into_the_match(patch):
    patch.setattr(gathering, "check_name", lambda signed, name: None)


def takes_any_option(patch):
    choose = table_options.choose
    known = {*table_options.RANGES, "target", "reveal", "match"}

    def generous(variant, count, options, *rest, **named):
        kept = {name: value for name, value in options.items() if name in known}
        return choose(variant, count, kept, *rest, **named)

    patch.setattr(lobby, "choose", generous)


def lists_private_tables(patch):
    add = lobby.Lobby.add

    def open_add(self, table):
        table.made = table.made._replace(private=False)
        add(self, table)

    patch.setattr(lobby.Lobby, "add", open_add)


def seats_two_on_one_chair(patch):
    free = table.free_seat

    def crowded(code, seats, wanted):
        return free(code, seats, wanted) if wanted is None else wanted

    patch.setattr(table, "free_seat", crowded)


def admits_every_guest(patch):
    patch.setattr(table, "check_guest", lambda seats, player, *, allowed: None)


def forgets_what_it_has_stored(patch):
    patch.setattr(tail.Tail, "find", lambda self, record: None)


def plays_unsigned_acts(patch):
    patch.setattr(acts, "keys", SimpleNamespace(verify=lambda *_: True))


def refuses_without_evidence(patch):
    patch.setattr(dealer.Dealer, "refuse", lambda self, *args: None)


def shows_the_open_hand(patch):
    patch.setattr(showing, "HAND", -1)


def pads_no_boxes(patch):
    pad = boxes.pad
    patch.setattr(boxes, "pad", lambda plain, *rest: pad(plain, *rest) + bytes(len(plain) % 16))


def deals_from_a_stacked_deck(patch):
    fair = vars(dealing)
    stacked = SimpleNamespace(
        **fair | {"deck_order": lambda *args, **named: dealing.deck_order(*args, **named)[::-1]}
    )
    patch.setattr(dealer, "dealing", stacked)


def lets_anybody_talk(patch):
    patch.setattr(company, "_check_place", lambda *args: None)


def takes_everybody_for_a_player(patch):
    bound = past._bound

    def open_to_all(live, player, found):
        return bound(live, player._replace(id=next(iter(found.players))), found)

    patch.setattr(past, "_bound", open_to_all)


def ranks_the_worst_first(patch):
    best = sql.Store.leaderboard
    patch.setattr(sql.Store, "leaderboard", lambda *args, **page: best(*args, **page)[::-1])


def lists_the_matches_of_others(patch):
    listed = sql.Store.played

    def everybody(self, player, **page):
        others = self._read(select(match_players.c.player).limit(1))
        return listed(self, others[0].player if others else player, **page)

    patch.setattr(sql.Store, "played", everybody)


def says_nothing_of_a_take_over(patch):
    patch.setattr(table, "SeatTakenOver", lambda **fields: table.TableClosed(table="x", reason="lost"))


def counts_a_table_as_an_hour_old(patch):
    patch.setattr(showing.SpectatorFeed, "age_ms", lambda *args, **named: 3_600_000)


def never_tires(patch):
    patch.setattr(peer.Bucket, "take", lambda self, now: 0)


PATCHED = [
    (keeps_the_last_of_two_keys, "S0.duplicate-keys"),
    (passes_over_what_follows_the_map, "S0.trailing"),
    (waits_for_endless_frames, "S0.length-4gib"),
    (stays_after_a_broken_frame, "S0.length-zero"),
    (closes_without_goodbye, "S0.array"),
    (says_nothing_to_strangers, "S0.http"),
    (refuses_what_it_does_not_know, "S0.unknown-fields"),
    (allows_no_second_use_of_an_id, "S0.id-again"),
    (repeats_its_nonce, "S0.server-hello"),
    (takes_logins_of_other_connections, "S1.replayed"),
    (takes_unsigned_logins, "S1.bad-signature"),
    (takes_any_name, "S1.name-control"),
    (calls_two_players_alike, "S1.name-alike"),
    (takes_any_name_into_the_match, "S2.terms-name"),
    (takes_any_option, "S2.option-unknown"),
    (lists_private_tables, "S2.private"),
    (seats_two_on_one_chair, "S2.seat-taken"),
    (admits_every_guest, "S2.no-guests"),
    (forgets_what_it_has_stored, "S3.act-again"),
    (plays_unsigned_acts, "S3.act-signature"),
    (refuses_without_evidence, "S3.illegal"),
    (shows_the_open_hand, "S2.watch-held"),
    (pads_no_boxes, "S3.sizes"),
    (deals_from_a_stacked_deck, "S3.audit"),
    (lets_anybody_talk, "S2.chat-outsider"),
    (takes_everybody_for_a_player, "S2.history-none"),
    (ranks_the_worst_first, "S2.leaderboard"),
    (lists_the_matches_of_others, "S2.matches"),
    (counts_a_table_as_an_hour_old, "S2.table-age"),
    (says_nothing_of_a_take_over, "S3.take-over"),
]


@pytest.mark.parametrize(("fault", "name"), PATCHED, ids=[fault.__name__ for fault, _ in PATCHED])
async def test_server_with_a_fault_fails_the_case_that_is_about_it(tmp_path, monkeypatch, fault, name):
    fault(monkeypatch)
    async with running(tmp_path / "data") as server:
        outcome = await judge(server.port, name)
    assert outcome.verdict is CaseVerdict.FAIL, outcome


async def test_server_without_limits_fails_the_case_of_the_flood(tmp_path, monkeypatch):
    never_tires(monkeypatch)
    async with running(tmp_path / "data", changed(QUICK, **SLOW_TALK)) as server:
        outcome = await judge(server.port, "S3.flood")
    assert outcome.verdict is CaseVerdict.FAIL, outcome


# --- a proxy that alters what the server says -------------------------------------------------------------------------


def changes_nothing(message, spoken):
    return [message]


def answers_pings_with_other_numbers(message, spoken):
    return [message | {"n": message["n"] + 1}] if message["t"] == "pong" else [message]


def changes_what_watchers_see(message, spoken):
    alters = message["t"] == "record" and "watch" in spoken.asked
    return [message | {"sig": message["sig"][::-1]}] if alters else [message]


def shows_cards_to_watchers(message, spoken):
    if message["t"] != "record" or "watch" not in spoken.asked:
        return [message]
    place = {name: message[name] for name in ("table", "match", "k")}
    return [message, {"t": "cards", **place, "j": 1, "d": 0, "cards": ["7e", "3b", "1o"]}]


def leaves_a_record_out_when_it_repeats(message, spoken):
    skips = message["t"] == "record" and "resume" in spoken.asked and message["k"] == 3
    return [] if skips else [message]


def answers_twice(message, spoken):
    return [message, message] if message["t"] == "ok" else [message]


def never_says_when_to_come_again(message, spoken):
    return [{name: value for name, value in message.items() if name != "retry_after_ms"}]


def shows_options_in_clear(message, spoken):
    if message["t"] != "options":
        return [message]
    return [message | {"list": [{"key": "stand", "kind": "stand", "hints": {}}]}]


def flatters_its_errors(message, spoken):
    return [message | {"retryable": True}] if message["t"] == "error" else [message]


def cuts_texts_out(message, spoken):
    return [message | {"msg": ""}] if message["t"] == "error" else [message]


def alters_a_record(message, spoken):
    if message["t"] != "record" or message["k"] != 4:
        return [message]
    return [message | {"body": message["body"][:-1] + bytes([message["body"][-1] ^ 1])}]


def sends_fields_of_another_type(message, spoken):
    return [message | {"n": str(message["n"])}] if message["t"] == "table" else [message]


ALTERED = [
    (answers_pings_with_other_numbers, "S0.ping", {}),
    (changes_what_watchers_see, "S2.watch", {}),
    (shows_cards_to_watchers, "S2.watch-hidden", {}),
    (leaves_a_record_out_when_it_repeats, "S3.resume", {}),
    (answers_twice, "S0.id-in-use", {}),
    (never_says_when_to_come_again, "S3.flood", SLOW_TALK),
    (shows_options_in_clear, "S3.boxed-key", {}),
    (flatters_its_errors, "S0.unknown-request", {}),
    (cuts_texts_out, "S0.not-msgpack", {}),
    (alters_a_record, "S3.audit", {}),
    (sends_fields_of_another_type, "S2.create", {}),
]


@pytest.mark.parametrize(
    ("alter", "name", "sections"), ALTERED, ids=[alter.__name__ for alter, *_ in ALTERED]
)
async def test_server_that_is_altered_on_the_way_fails_the_case_that_is_about_it(
    tmp_path, alter, name, sections
):
    settings = changed(QUICK, **sections)
    async with running(tmp_path / "data", settings) as server, altered(server.port, alter) as port:
        outcome = await judge(port, name)
    assert outcome.verdict is CaseVerdict.FAIL, outcome


async def test_proxy_that_alters_nothing_fails_no_case(tmp_path):
    async with running(tmp_path / "data") as server, altered(server.port, changes_nothing) as port:
        names = [name for _, name, sections in ALTERED if not sections]
        outcomes = {name: await judge(port, name, patience_s=20) for name in names}
    assert {name: it.came for name, it in outcomes.items() if it.verdict is not CaseVerdict.PASS} == {}
