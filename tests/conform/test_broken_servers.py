"""The real server with one thing replaced, in each of its faults: the case that is about it fails, and cites the clause it proves."""

from types import SimpleNamespace
from typing import NamedTuple

import msgpack
import msgspec
import pytest
from conform.judging import LOW_LIMITS, SLOW_TALK, judge_server
from msgspec.structs import replace
from server.conftest import QUICK, running
from sqlalchemy import select
from structlog.testing import capture_logs

from truc_conform.result import CaseVerdict
from truc_protocol import boxes, dealer, dealing
from truc_protocol.blind_mode import sealed_pack
from truc_protocol.codec import dec, pack
from truc_protocol.errors import Code
from truc_protocol.ledger import blind_records
from truc_protocol.messages import Direction
from truc_protocol.setup import TERM_RANGES
from truc_protocol.wire import connection
from truc_protocol.wire.connection import ConnectionEnd
from truc_protocol.wire.encoding import FrameSplitter, MessageError, decode
from truc_server.lobby import lobby
from truc_server.lobby.lobby import Lobby
from truc_server.matches import acceptance, auto_rulings, deadlines, game
from truc_server.matches.blind_hands import HeldKeys
from truc_server.matches.game import RecentRecords
from truc_server.net import admission, peer
from truc_server.net.admission import Admission
from truc_server.requests import history, lobby_requests, login, seating
from truc_server.spectating import spectator_feed
from truc_server.storage.schema import match_players
from truc_server.storage.sql import Store
from truc_server.table_data import options
from truc_server.table_data.board import TableBoard
from truc_server.tables import pending_terms, table, talk
from truc_server.timing.rate_limits import Meter

pytestmark = pytest.mark.slow


class BrokenServer(NamedTuple):
    """What a server does wrong: what is replaced in a module or class, by name, and the case that must find it."""

    what: str
    owner: object
    replaced: dict[str, object]
    case: str


def for_points(dealer, ledger, reason, *, void=dealer.Dealer.void):
    """Void a call for another reason than that a seat was silent."""
    return void(dealer, ledger, "points")


def keep_the_first(held_keys, seat, held, *, holder):
    held_keys.held.setdefault(seat, held)


def loose(frame):
    """Decode as msgpack does by itself: the last of two keys, and nothing said of what stands after the map."""
    unpacker = msgpack.Unpacker(strict_map_key=False)
    unpacker.feed(frame)
    return unpacker.unpack()


def loose_decode(frame, way):
    return decode(pack(loose(frame)), way)


def strict_decode(frame, way):
    message = decode(frame, way)
    known = {field.encode_name for field in msgspec.structs.fields(type(message))} | {"t"}
    if way is Direction.TO_SERVER and set(loose(frame)) - known:
        raise MessageError(connection.Code.BAD_MESSAGE, "an unknown field")
    return message


class Patient(FrameSplitter):
    __slots__ = ()

    def __init__(self, limit):
        super().__init__(2**32)


class Forgiving(FrameSplitter):
    __slots__ = ()

    def next_frame(self):
        while self.rest[:4] == bytes(4) and len(self.rest) >= 4:
            del self.rest[:4]
        return super().next_frame()


refuse, answer, track = ConnectionEnd.refuse, ConnectionEnd.answer, ConnectionEnd._track


def refuse_without_goodbye(self, refused):
    said = refuse(self, refused)
    return said[: 4 + int.from_bytes(said[:4], "big")]


def answer_without_a_line(self, failure):
    return answer(self, failure._replace(line=failure.line and b"\x00"))


seen_ids: dict[int, set[int]] = {}


def track_ids_for_ever(self, message, tag):
    if isinstance(message, connection.Request):
        seen = seen_ids.setdefault(id(self), set())
        if message.id in seen:
            raise connection.RemoteError(connection.Code.BAD_MESSAGE, "used before", re=message.id)
        seen.add(message.id)
    return track(self, message, tag)


def key_alone(message, challenge):
    return dec(message.body)[2]


check_login, choose, add, free_seat = login.check_login, options.choose, Lobby.add, TableBoard.free_seat


def check_login_unsigned(message, challenge):
    try:
        return check_login(message, challenge)
    except connection.RemoteError as error:
        if "signature" in error.message:
            return key_alone(message, challenge)
        raise


def choose_what_is_known(variant, count, chosen, *rest, **named):
    known = {*TERM_RANGES, "target", "reveal", "match"}
    kept = {name: value for name, value in chosen.items() if name in known}
    return choose(variant, count, kept, *rest, **named)


def named_as_they_wish(self, player, kept=None):
    return player


def add_openly(self, table, *rest):
    table.blueprint = table.blueprint._replace(private=False)
    add(self, table, *rest)


def any_seat(self, wanted):
    return free_seat(self, wanted) if wanted is None else wanted


pad, bound, best, played = boxes.pad, history._bound, Store.leaderboard, Store.matches_of
stacked = SimpleNamespace(
    **vars(dealing) | {"deck_order": lambda *args, **named: dealing.deck_order(*args, **named)[::-1]}
)


def bound_of_anybody(live, player, found):
    return bound(live, player._replace(id=next(iter(found.players))), found)


def played_by_anybody(self, player, **page):
    others = self._read(select(match_players.c.player).limit(1))
    return played(self, others[0].player if others else player, **page)


def table_lost(**fields):
    return table.TableClosed(table="x", reason="lost")


for_absence = auto_rulings._for_absence


def for_absence_unclaimed(dealer, ledger, beside):
    return for_absence(dealer, ledger, replace(beside, is_claimed=False))


judge_hand = blind_records._judge_opened


def believed(ledger):
    judged, events = judge_hand(ledger)
    if judged.blind_hand.exposed is None or judged.blind_hand.exposed.kind != "false":
        return judged, events
    hand = ledger.match.hand
    nothing_said = hand._replace(contests=hand.contests._replace(said=()))
    known = replace(ledger.hand, known=len(ledger.hand.deals))
    return replace(ledger, match=ledger.match._replace(hand=nothing_said), hand=known), ()


def enter_without_limit(self, address, network, *, counts=True):
    for count, place in ((self._networks, network), (self._sites, admission.site_of(network))):
        count[place] = count.get(place, 0) + counts
    self._inside += counts


def nothing(*arguments, **named):
    return None


def no_time(*arguments, **named):
    return 0


FAULTS = (
    BrokenServer("keeps the last of two keys", connection, {"decode": loose_decode}, "S0.duplicate-keys"),
    BrokenServer("passes over what follows the map", connection, {"decode": loose_decode}, "S0.trailing"),
    BrokenServer("waits for endless frames", connection, {"FrameSplitter": Patient}, "S0.length-4gib"),
    BrokenServer("stays after a broken frame", connection, {"FrameSplitter": Forgiving}, "S0.length-zero"),
    BrokenServer("closes without goodbye", ConnectionEnd, {"refuse": refuse_without_goodbye}, "S0.array"),
    BrokenServer("says nothing to strangers", ConnectionEnd, {"answer": answer_without_a_line}, "S0.http"),
    BrokenServer("refuses what it does not know", connection, {"decode": strict_decode}, "S0.unknown-fields"),
    BrokenServer(
        "allows no second use of an id", ConnectionEnd, {"_track": track_ids_for_ever}, "S0.id-again"
    ),
    BrokenServer("repeats its nonce", login, {"token_bytes": bytes}, "S0.server-hello"),
    BrokenServer("takes logins of other connections", login, {"check_login": key_alone}, "S1.replayed"),
    BrokenServer("takes unsigned logins", login, {"check_login": check_login_unsigned}, "S1.bad-signature"),
    BrokenServer("takes any name", login, {"normalised": str.strip}, "S1.name-control"),
    BrokenServer("calls two players alike", Lobby, {"give_name": named_as_they_wish}, "S1.name-alike"),
    BrokenServer("takes any name into the match", pending_terms, {"check_name": nothing}, "S2.terms-name"),
    BrokenServer("takes any option", lobby, {"choose": choose_what_is_known}, "S2.option-unknown"),
    BrokenServer("lists private tables", Lobby, {"add": add_openly}, "S2.private"),
    BrokenServer("seats two on one chair", TableBoard, {"free_seat": any_seat}, "S2.seat-taken"),
    BrokenServer("admits every guest", TableBoard, {"check_guest": nothing}, "S2.no-guests"),
    BrokenServer("forgets what it has stored", RecentRecords, {"find": nothing}, "S3.act-again"),
    BrokenServer(
        "plays unsigned acts",
        acceptance,
        {"keys": SimpleNamespace(verify=lambda *_: True)},
        "S3.act-signature",
    ),
    BrokenServer("refuses without evidence", dealer.Dealer, {"refuse": nothing}, "S3.illegal"),
    BrokenServer("shows the open hand", spectator_feed, {"WATCH_BY_HAND": -1}, "S2.watch-held"),
    BrokenServer(
        "pads no boxes",
        boxes,
        {"pad": lambda plain, *rest: pad(plain, *rest) + bytes(len(plain) % 16)},
        "S3.sizes",
    ),
    BrokenServer("deals from a stacked deck", dealer, {"dealing": stacked}, "S3.audit"),
    BrokenServer("lets anybody talk", lobby_requests, {"_check_place": nothing}, "S2.chat-outsider"),
    BrokenServer("takes everybody for a player", history, {"_bound": bound_of_anybody}, "S2.history-none"),
    BrokenServer(
        "ranks the worst first",
        Store,
        {"leaderboard": lambda *args, **page: best(*args, **page)[::-1]},
        "S2.leaderboard",
    ),
    BrokenServer("lists the matches of others", Store, {"matches_of": played_by_anybody}, "S2.matches"),
    BrokenServer(
        "counts a table as an hour old",
        spectator_feed.SpectatorFeed,
        {"age_ms": lambda *args, **named: 3_600_000},
        "S2.table-age",
    ),
    BrokenServer("says nothing of a take-over", table, {"SeatTakenOver": table_lost}, "S3.take-over"),
)
BLIND = (
    BrokenServer("takes unsound points", sealed_pack, {"_check_sound": nothing}, "S3.blind-mask-unsound"),
    BrokenServer("takes points twice", sealed_pack, {"_check_new": nothing}, "S3.blind-mask-twice"),
    BrokenServer("opens hands early", blind_records, {"_may_open": lambda *_: True}, "S3.blind-early-link"),
    BrokenServer("takes any link", blind_records, {"open_link": lambda ledger, *_: ledger}, "S3.blind-link"),
    BrokenServer(
        "says it is too early for bad keys",
        acceptance,
        {"CODES": {**acceptance.CODES, "C46": Code.NOT_NOW}},
        "S3.blind-keys-short",
    ),
    BrokenServer("seats who does not deal", seating, {"check_deals": nothing}, "S3.blind-unwanted"),
    BrokenServer("takes any key", sealed_pack, {"fits_lock": lambda *_: True}, "S3.blind-turned-up"),
    BrokenServer("waits for no cards to be lent", blind_records, {"next_share": nothing}, "S3.blind-lends"),
    BrokenServer("believes any value", blind_records, {"_judge_opened": believed}, "S3.blind-false-value"),
    BrokenServer(
        "answers keys where they came first", HeldKeys, {"hold": keep_the_first}, "S3.blind-keys-again"
    ),
    BrokenServer("voids for want of points", dealer.Dealer, {"void": for_points}, "S3.blind-silent-mask"),
    BrokenServer(
        "waits for keys for ever",
        auto_rulings,
        {"seats_owing": lambda _ledger: frozenset()},
        "S3.blind-silent-keys",
    ),
)
UNDER_LOW_LIMITS = (
    BrokenServer(
        "lets time run while nobody is there", deadlines.MatchClock, {"halt": nothing}, "S3.time-stands"
    ),
    BrokenServer(
        "takes any word", options, {"_word": lambda given, option, words, default: default}, "S3.claim-word"
    ),
    BrokenServer(
        "grants a claim to every side",
        auto_rulings,
        {"_of_other_side": lambda seat, seats: tuple(seats)},
        "S3.claim-partner",
    ),
    *(
        BrokenServer(
            "grants every claim",
            game,
            {"ruling_claimed": lambda dealer, ledger, *rest: dealer.abandon(ledger, "server")},
            case,
        )
        for case in ("S3.claim-early", "S3.claim-present")
    ),
    BrokenServer("grants no claim", game, {"ruling_claimed": nothing}, "S3.claim"),
    BrokenServer("waits for no claim", auto_rulings, {"_for_absence": for_absence_unclaimed}, "S3.claim"),
    BrokenServer("rules on for ever", auto_rulings, {"_for_absence": nothing}, "S3.claim-server"),
    BrokenServer("lets seats talk on", talk, {"_pay": nothing}, "S3.say-flood"),
    BrokenServer("counts no failed login", Meter, {"owes": no_time, "pay": no_time}, "S3.failed-logins"),
    BrokenServer("counts no table", Meter, {"owes": no_time, "pay": no_time}, "S3.tables-rate"),
    BrokenServer("leaves its door open", Admission, {"enter": enter_without_limit}, "S3.connections"),
    BrokenServer(
        "waits for the silent",
        peer,
        {"keep_alive": lambda *arguments, **named: peer.KeepAlive.REST},
        "S3.drip",
    ),
)
NEVER_TIRES = BrokenServer("never tires", peer.Bucket, {"take": no_time}, "S3.flood")
JUDGED = [
    *((fault, QUICK, 0.5) for fault in FAULTS),
    *((fault, QUICK, 2.0) for fault in BLIND),
    (NEVER_TIRES, SLOW_TALK, 0.5),
    *((fault, LOW_LIMITS, 2.0) for fault in UNDER_LOW_LIMITS),
]


@pytest.mark.parametrize(
    ("fault", "settings", "patience_s"), JUDGED, ids=[f"{fault.what}: {fault.case}" for fault, *_ in JUDGED]
)
async def test_server_with_a_fault_fails_the_case_that_is_about_it(
    tmp_path, monkeypatch, fault, settings, patience_s
):
    for name, by in fault.replaced.items():
        monkeypatch.setattr(fault.owner, name, by)
    with capture_logs() as logged:
        async with running(tmp_path / "data", settings) as server:
            outcome = await judge_server(server.port, fault.case, patience_s=patience_s)
    assert outcome.verdict is CaseVerdict.FAIL, outcome
    assert [
        each for each in logged if each["log_level"] == "error"
    ] == []  # it does wrong, and does not break down
