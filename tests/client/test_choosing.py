import pytest
from client.playing import at_table, at_turn, my_turn, pick, play_on, signed
from msgspec.structs import replace
from rows import each_row

from truc_client import ChoiceError, MoveChoice, RefusedError, YourTurn
from truc_client.happenings import Happening
from truc_client.matches.choosing import Choosing, same_decision
from truc_client.matches.offers import FoundOptions, Offered
from truc_protocol.bodies import Act, Open, Proxy, Release
from truc_protocol.errors import Code
from truc_protocol.messages import OpenOptions, refusal
from truc_protocol.records import Record, encode

PLAY = MoveChoice("play 7e", "play", {}, (0, 3, b"s" * 16, None), 5)
PLACE = (b"m" * 32, 5, b"h" * 32, 1)


TARGET = 12


def act(kind: str, body: type = Act) -> Record:
    return Record(2 if body is Act else 0, encode(body(*PLACE, 1, kind, ())), bytes(64 if body is Act else 0))


def opened() -> Record:
    return Record(0, encode(Open(*PLACE, 0, 1, ((0, 3, b"s" * 16),))), bytes(64))


SAME = Offered(6, 4, (PLAY,))


@each_row(
    "offered, between, stands",
    [
        *((SAME, between, True) for between in ((), (act("pause"),), (act("resume", Proxy),), (opened(),))),
        (SAME, (act("raise"),), False),
        (SAME, (act("pause"), act("accept")), False),
        (SAME, (Record(2, encode(Release(*PLACE, 1, b"v" * 32)), bytes(64)),), False),
        (Offered(6, 5, (PLAY,)), (), False),
        (Offered(6, 4, ()), (), False),
    ],
)
def test_choice_stands_unless_something_was_decided_or_offered_in_between(offered, between, stands):
    assert same_decision(PLAY, 4, offered, between) is stands


def test_cut_is_one_of_the_newest_options_though_its_place_was_drawn_anew_since():
    choosing, found = Choosing(), FoundOptions(3, must=True, deadline_ms=None, awaited=(0,))
    first, again = (MoveChoice("cut", "cut", {}, (place,), 3) for place in (11, 27))
    for cut in (first, again):
        choosing.take(Offered(3, 0, (cut,)), found, ())
        choosing.interrupted()
    choosing.check(first)


async def test_choice_that_is_not_offered_is_refused(server, player) -> None:
    async with at_turn(server, player) as (table, turn):
        with pytest.raises(ChoiceError, match="newest options"):
            await table.choose(MoveChoice("play 9z", "play", {}, (), turn.at))


async def test_choice_of_an_earlier_turn_comes_too_late_and_sends_nothing(server, player) -> None:
    async with at_turn(server, player) as (table, first):
        await table.choose(pick(first))
        await play_on(table, until=my_turn)
        before = len(server.received)
        await table.choose(pick(first))
    assert len(server.received) == before


@pytest.mark.parametrize("must", [True, False])
async def test_options_that_are_none_are_no_turn(scripted, guest, must) -> None:
    server, sent = scripted(), []
    server.bend = lambda message: sent.append(message) or message
    async with at_turn(server, guest) as (table, _):
        offered = next(message for message in sent if isinstance(message, OpenOptions))
        await server.send(replace(offered, choices=(), must=must))
        await server.send(offered)
        (turn,) = await play_on(table, until=my_turn)
    assert turn.options


def with_alternatives(happening: Happening) -> bool:
    return isinstance(happening, YourTurn) and len(happening.options) > 1


def refuse_next(server, code: Code = Code.ILLEGAL_ACTION, *, evidence: bool) -> None:
    """Let the server refuse the next act, with or without its signed word."""

    async def refuse(message) -> None:
        del server.act
        signed = server.dealer.refuse(server.setup.match, message.body, code.value) if evidence else None
        await server.send(replace(refusal(code, "no", re=message.id), refuse=signed))

    server.act = refuse


async def test_no_other_choice_is_signed_after_a_refusal(server, player) -> None:
    async with at_table(server, player) as table:
        turn = (await play_on(table, until=with_alternatives))[-1]
        refuse_next(server, evidence=False)
        with pytest.raises(RefusedError):
            await table.choose(turn.options[0])
        with pytest.raises(ChoiceError, match="signed"):
            await table.choose(turn.options[1])


def race(server, kind: str, offer: int) -> None:
    """Let a record of seat 1 come before the next act; the options after it are those of `offer`."""

    async def overtake(message) -> None:
        del server.act
        server.offer = offer
        await server.take(server.players[1].act(server.ledger, kind))
        await server.send_options()
        server.offer = None
        await server.send(refusal(Code.STALE_POSITION, "too late", re=message.id))

    server.act = overtake


async def test_choice_is_made_again_by_itself_after_a_pause_was_asked_for(server, player) -> None:
    async with at_turn(server, player) as (table, turn):
        race(server, "pause", turn.offer)
        await table.choose(pick(turn))
        seen = await play_on(table, until=my_turn)
    first, second = signed(server, Act)[:2]
    assert (first.kind, first.args, first.k + 1) == (second.kind, second.args, second.k)
    assert seen[-1].at > second.k


async def test_user_is_asked_again_when_the_offer_is_another(server, player) -> None:
    async with at_turn(server, player) as (table, turn):
        race(server, "pause", turn.offer + 1)
        await table.choose(pick(turn))
        seen = await play_on(table, until=my_turn)
    assert (turn.again, seen[-1].again, len(signed(server, Act))) == (False, True, 1)
