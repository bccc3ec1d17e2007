"""A seat of the client library in mode blind, against a scripted server whose puppets deal with it."""

from collections import Counter

import pytest
import trio
from client.chance import CLIENT, draw_from, seeded
from client.cheats import forget_since, forget_the_mark
from client.playing import (
    at_table,
    body_of,
    come_back,
    my_turn,
    pick,
    play_on,
    received,
    recorded,
    signed,
)
from client.strict import StrictBlind

from truc_bots import Effort, Sharp
from truc_client import (
    CardsDealt,
    CheckFailedError,
    MatchEnded,
    PartnerCards,
    Player,
    RecordSeen,
    SignMade,
    YourTurn,
    open_home,
)
from truc_client.errors import LostError
from truc_client.happenings import MatchWaits
from truc_client.line.single_connection import ClockOffset, SingleConnection
from truc_client.verifying import verify_file
from truc_conform.blind_seat import reordered
from truc_conform.playing import quiet
from truc_conform.shown import CODE
from truc_protocol import messages
from truc_protocol.audit import Result
from truc_protocol.blind_mode.points import times
from truc_protocol.blind_mode.sealed_pack import MaskStep
from truc_protocol.bodies import Act, Call, Garbled, Keys, Lend, Lock, Mask, Rekey, Release
from truc_protocol.boxes import open_sign_of_seat, seal_sign_of_seat, seat_sign_key
from truc_protocol.messages import SignedAct
from truc_protocol.records import BLIND, DEALT, Record, encode, parse

STEPS = (Mask, Lock, Keys, Lend, Garbled)


@pytest.fixture
def blind(scripted):
    def make(variant: str = "truc-french", **options) -> StrictBlind:
        return scripted(variant, kind=StrictBlind, **{"target": 2, **options})

    return make


@pytest.fixture
def server(blind) -> StrictBlind:
    return blind()


async def played(server, player, choose=pick, until=MatchEnded):
    """Play at a table of this server until something happens; return everything that has."""
    with trio.fail_after(30):
        async with at_table(server, player) as table:
            return await play_on(table, until=until, choose=choose)


def giving_up(actions):
    """Let the other side of seat 0 decline what it asks for, so that it is at its last point soon."""
    declining = (each for each in actions if each.kind == "decline" and each.seat % 2)
    return next(declining, quiet(actions))


def asking(turn: YourTurn):
    """Ask for more at the first turn, which the other side declines: after it one's own is at its last point."""
    return next((each for each in turn.options if each.kind == "raise"), pick(turn))


def verdict_of(seen):
    """Return the verdict on the file that a match has left."""
    ended = seen[-1]
    assert isinstance(ended, MatchEnded)
    return verify_file(ended.transcript)


async def test_cards_lent_by_a_partner_are_told_and_own_ones_are_lent(blind, player) -> None:
    server = blind("truco-mineiro-2", seats=4, target=4)
    server.pick = lambda _ledger: giving_up
    seen = await played(server, player, choose=asking)
    assert verdict_of(seen).host_saw_no_card
    lent = [each for each in seen if isinstance(each, PartnerCards)]
    assert lent
    assert {each.seat for each in lent} == {2}
    assert signed(server, Lend)


async def test_own_cards_are_told_with_the_deal_and_are_those_that_are_played(server, player) -> None:
    seen = await played(server, player)
    verdict = verdict_of(seen)
    assert (verdict.result, verdict.mode, verdict.host_saw_no_card) == (Result.PROVEN, BLIND, True)
    dealt = [each.cards for each in seen if isinstance(each, CardsDealt)]
    kinds = [each.kind for each in seen if isinstance(each, RecordSeen)]
    assert len(dealt) == kinds.count("deal") > 0
    facts = [fact for each in seen if isinstance(each, RecordSeen) for fact in each.means]
    own = [fact["card"] for fact in facts if fact["what"] == "card_played" and fact["seat"] == 0]
    assert own
    assert set(own) <= {card for cards in dealt for card in cards}
    opened = [fact["cards"] for fact in facts if fact["what"] == "hands_opened"]
    assert [tuple(cards[0]) for cards in opened] == dealt


async def test_bots_that_know_the_rules_see_their_own_cards_and_no_others(server, player) -> None:
    async with at_table(server, player) as table:
        seen = await play_on(table, until=my_turn)
        (dealt,) = [each.cards for each in seen if isinstance(each, CardsDealt)]
        assert table.match is not None
        match = table.match.ledger.match
        assert match is not None
        own, other = match.hand.dealt.cards
        assert tuple(server.variant.pack[card] for card in own) == dealt
        played = {slot for slot, card in enumerate(other) if card is not None}
        assert len(played) == len(match.hand.row.table)
        turn = seen[-1]
        assert isinstance(turn, YourTurn)
        choice = Sharp(1, Effort(20, 5.0)).choose(match, 0, [each.line for each in turn.options])
        assert choice is not None


async def test_player_is_told_whom_the_deal_waits_for(server, player) -> None:
    server.silent = frozenset({1})

    def waits(happening) -> bool:
        return isinstance(happening, MatchWaits) and happening.what == "mask" and happening.seats == (1,)

    assert await played(server, player, until=waits)


@pytest.mark.parametrize(("shown", "in_terms"), [(BLIND, DEALT), (DEALT, BLIND)])
async def test_terms_of_another_mode_than_was_shown_are_not_signed(server, player, shown, in_terms):
    server.shown_mode, server.signed_mode = shown, in_terms
    with pytest.raises(CheckFailedError, match=f"mode: agreed to '{shown}', the terms say '{in_terms}'"):
        await played(server, player)
    assert not received(server, SignedAct)


class KilledError(Exception):
    """The client is gone, with what it had not stored."""


def kill_behind(server, kinds: list[type], kill) -> list[bytes]:
    """Let the client be killed behind its first step of each kind, which is taken; returns the bodies of these steps."""
    lost: list[bytes] = []
    act, serve = server.act, server.serve

    async def dying(message) -> None:
        kind = None if message.match is None else type(body_of(message))
        if kind not in kinds or server.ledger.blind_hand is None:
            await act(message)
            return
        kinds.remove(kind)
        lost.append(message.body)
        await server.take(Record(1, message.body, message.sig))
        raise KilledError

    async def served(stream) -> None:
        try:
            await serve(stream)
        except KilledError:
            kill()

    server.act, server.serve = dying, served
    return lost


async def test_client_killed_with_the_record_of_each_step_on_the_way_takes_it_and_signs_no_other(
    server, player
):
    """What it does with a step that was not taken is in the cases of the kit."""
    left, seen = [Mask, Lock, Keys, Release, Act], None

    def kill() -> None:
        gone.cancel_scope.cancel()

    lost = kill_behind(server, left, kill)

    async def visit() -> None:
        nonlocal seen
        seen = await (come_back(server, player) if lost else played(server, player))

    with trio.fail_after(60):
        while seen is None:
            async with trio.open_nursery() as gone:
                gone.start_soon(visit)
    assert left == []
    assert verdict_of(seen).host_saw_no_card
    sent = [message for message in received(server, SignedAct) if message.match is not None]
    times_sent = Counter(message.body for message in sent)
    places = Counter((type(body), body.k) for body in map(body_of, {it.body: it for it in sent}.values()))
    assert [times_sent[body] for body in lost] == [1] * len(lost)
    assert set(places.values()) == {1}


async def test_new_chain_deals_on_also_after_a_restart(blind, player) -> None:
    server = blind(target=5)
    server.links = 2

    dealt = recorded("deal")
    await played(server, player, until=lambda it: dealt(it) and bool(signed(server, Rekey)))
    with trio.fail_after(60):
        seen = await come_back(server, player)
    assert len(signed(server, Rekey)) > 1
    assert verdict_of(seen).host_saw_no_card


def position_of(server, kind: type) -> int:
    return next(k for k, record in enumerate(server.records) if isinstance(parse(record), kind))


async def test_second_history_of_a_deal_is_refused_and_kept_as_evidence(server, player) -> None:
    """The puppet masks first and the client second; back after a loss it is shown another first mask."""
    await played(server, player, until=recorded("lock"))
    await forget_since(server, position_of(server, Call))
    forget_the_mark(player)
    (path,) = player.home.transcripts.iterdir()
    path.unlink()
    server.cheats[1] = reordered
    before = set(signed(server, *STEPS))
    with trio.fail_after(30), pytest.raises(CheckFailedError) as stopped:
        await come_back(server, player)
    assert (stopped.value.check, stopped.value.culprit) == ("C51", "server")
    assert stopped.value.evidence is not None
    assert set(signed(server, *STEPS)) == before


async def test_box_of_lent_cards_that_does_not_open_is_called_garbled(blind, player) -> None:
    server = blind("truco-mineiro-2", seats=4, target=4)
    server.pick = lambda _ledger: giving_up

    def bad_lend(step):
        return step._replace(box=bytes(len(step.box))) if hasattr(step, "receiver") else step

    server.cheats[2] = bad_lend
    verdict = verdict_of(await played(server, player, choose=asking))
    assert signed(server, Garbled)
    assert (verdict.result, verdict.winner, verdict.exposed.seat) == (Result.PROVEN, 1, 2)


class Wire:
    """A connection that takes every message."""

    def send(self, _message) -> bytes:
        return b"frame"


async def test_reply_to_keys_alone_may_take_as_long_as_other_seats_do() -> None:
    link = SingleConnection(None, Wire(), [], 30.0, ClockOffset())
    place = bytes(32), 0, bytes(32), 1, 0, 0, None, (), ()

    def post(body) -> None:
        link.post(lambda n: SignedAct(id=n, table=CODE, body=encode(body), sig=bytes(64)), print)

    post(Keys(*place))
    link._check_answers(trio.current_time() + 1000)
    post(Lock(*place))
    with pytest.raises(LostError, match="did not answer"):
        link._check_answers(trio.current_time() + 1000)


async def test_signs_go_sealed_from_seat_to_seat(blind, player) -> None:
    server = blind("truc-catalan", seats=4, target=3)
    async with at_table(server, player) as table:
        await play_on(table, until=my_turn)
        word, mid = server.variant.signals.vocabulary[0], server.setup.match
        own, partner = server.ledger.contributors[1].x, server.players[2]
        await table.sign(word)
        (sent,) = received(server, messages.BoxedSign)
        shared = partner.x.exchange(own)
        key = seat_sign_key(shared, mid, sender=0, receiver=2)
        assert open_sign_of_seat(key, mid, sender=0, at=sent.at, receiver=2, box=sent.box) == word
        back = seat_sign_key(shared, mid, sender=2, receiver=0)
        at = server.ledger.k
        box = seal_sign_of_seat(back, mid, sender=2, at=at, receiver=0, nonce=bytes(12), word=word)
        await server.send(messages.BoxedSignSeen(table=CODE, match=mid, at=at, sender=2, box=box))
        seen = await play_on(table, until=SignMade)
        assert seen[-1] == SignMade(2, word)


async def test_link_is_opened_where_the_match_was_ended_in_the_hand(blind, player) -> None:
    server = blind(target=12)
    async with at_table(server, player) as table:
        await play_on(table, until=my_turn)
        with trio.fail_after(30):
            await table.resign()
            seen = await play_on(table)
    verdict = verdict_of(seen)
    assert (verdict.result, verdict.reason, verdict.unopened) == (Result.PROVEN, "resigned", ())


def doubled(step):
    """Put ten cards four times into the pack, each time as new points."""
    if not isinstance(step, MaskStep):
        return step
    points = list(step.points)
    for at in range(20, len(points)):
        points[at] = times(2 + at // 20).times(points[at % 20])
    return step._replace(points=tuple(points))


async def test_card_that_another_plays_and_the_own_hand_holds_is_called_garbled(blind, tmp_path) -> None:
    def says_so(server) -> bool:
        bodies = [*map(parse, server.records)]
        after = next((k for k, body in enumerate(bodies) if isinstance(body, Garbled)), 0)
        is_own = after and bodies[after].seat == 0
        return is_own and isinstance(bodies[after - 1], Act) and bodies[after - 1].seat == 1

    for seed in range(2, 32):  # by the first of them there is such a match
        server = blind(target=12, seed=seed)
        server.cheats[1] = doubled
        player = Player(open_home(tmp_path / str(seed)), "north")
        draw_from(f"north {seed}")
        with seeded(CLIENT):
            verdict = verdict_of(await played(server, player))
        assert (verdict.result, verdict.winner, verdict.exposed.seat) == (Result.PROVEN, 0, 1)
        if says_so(server):
            return
    raise AssertionError("in no match was a card played that the other seat held")
