"""Pauses at the client: asked for and ended by library and bot, over a scripted server."""

import pytest
import trio
from client.playing import at_turn, my_turn, pick, play_on, play_to_proof, signed
from client.strict import QuietServer

from truc_client import ChoiceError, RecordSeen, RefusedError, Table, connect
from truc_client.bots import play_match, simple_bot
from truc_client.happenings import Happening
from truc_protocol.bodies import Act, Proxy
from truc_protocol.dealer import proxy_body
from truc_protocol.errors import Code
from truc_protocol.messages import GuestAct, SignedAct, refusal
from truc_protocol.records import Record, parse, unsigned_record
from truc_server.matches.auto_rulings import UnrecordedState, ruling_due

FRENCH = "truc-french"


class PausingServer(QuietServer):
    """A server whose other seat joins in where the seat under test asks for a pause or for its end, if `agrees`."""

    agrees = True

    def other(self) -> Record | None:
        ledger = self.ledger
        ruling = ruling_due(self.dealer, ledger, UnrecordedState())
        if ruling is not None:
            return ruling
        if self.agrees and ledger.pause.asked == {0}:
            return self.players[1].act(ledger, "resume" if ledger.pause.active else "pause")
        return None if ledger.pause.active else super().other()

    async def send_options(self) -> None:
        if not self.ledger.pause.active:
            await super().send_options()

    def record_of(self, message: SignedAct | GuestAct) -> Record:
        if isinstance(message, GuestAct) and message.choose in ("pause", "resume"):
            return unsigned_record(proxy_body(self.ledger, 0, message.choose, ()))
        return super().record_of(message)


KIND = PausingServer


def told(what: str, **fields):
    """Return a test for a record that tells a fact."""

    def is_it(happening: Happening) -> bool:
        return isinstance(happening, RecordSeen) and any(
            fact.items() >= {"what": what, **fields}.items() for fact in happening.means
        )

    return is_it


rests = told("ruled", ruling="pause")
goes_on = told("ruled", ruling="resume")


async def rested(table: Table) -> None:
    """Let the match rest."""
    await table.pause()
    await play_on(table, until=rests)


def asked(server) -> list[tuple[int, str]]:
    """Return position and kind of what the seat under test asked, as it was sent."""
    return [(body.k, body.kind) for body in signed(server, Act) if body.kind in ("pause", "resume")]


async def test_match_rests_once_both_seats_have_asked_and_goes_on_to_a_proven_end(server, player) -> None:
    async with at_turn(server, player) as (table, _):
        with pytest.raises(ChoiceError, match="does not rest"):
            await table.unpause()
        await rested(table)
        assert server.ledger.pause.active
        with pytest.raises(ChoiceError, match="rests already"):
            await table.pause()
        await table.unpause()
        await play_on(table, until=goes_on)
        with pytest.raises(ChoiceError, match="once a hand"):
            await table.pause()
        await play_to_proof(table)


async def test_pause_of_a_guest_is_a_choice(server, guest) -> None:
    async with at_turn(server, guest) as (table, _):
        await rested(table)
        await table.unpause()
        await play_on(table, until=goes_on)
    kinds = [parse(record).kind for record in server.records if isinstance(parse(record), Proxy)]
    assert kinds[-2:] == ["pause", "resume"]


async def test_one_who_asks_alone_plays_on_and_may_ask_again_in_the_next_hand(server, player) -> None:
    server.agrees = False
    async with at_turn(server, player) as (table, _):
        await table.pause()
        with pytest.raises(ChoiceError, match="you have asked already"):
            await table.pause()
        assert len(asked(server)) == 1
        seen = await play_on(table, until=my_turn)
        turn = seen[-1]
        await table.choose(pick(turn))
        assert server.ledger.k > turn.at
        seen += await play_on(table, until=told("hand_closed"))
        seen += await play_on(table, until=my_turn)
        await table.pause()
        assert len(asked(server)) == 2
        seen += await play_to_proof(table)
    assert not any(map(rests, seen))


async def test_second_asking_to_go_on_is_refused(server, player) -> None:
    async with at_turn(server, player) as (table, _):
        await rested(table)
        server.agrees = False
        await table.unpause()
        with pytest.raises(ChoiceError, match="you have asked already"):
            await table.unpause()


async def test_no_pause_is_asked_for_before_a_match_or_when_it_is_over(server, player) -> None:
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.create(FRENCH)
        with pytest.raises(ChoiceError, match="no match"):
            await table.pause()
        await table.ready()
        await play_on(table)
        with pytest.raises(ChoiceError, match="the match is over"):
            await table.pause()


async def test_pause_that_a_record_has_overtaken_is_signed_for_the_next_position(server, player) -> None:
    server.agrees = False
    async with at_turn(server, player) as (table, _):
        overtake(server)
        await table.pause()
        await play_on(table, until=told("pause_asked", seat=0))
    (first, _), (second, _) = asked(server)
    assert (first + 1, server.ledger.pause.active) == (second, True)


def overtake(server) -> None:
    """Let the other seat's asking come before the next act."""

    async def later(message) -> None:
        del server.act
        await server.take(server.players[1].act(server.ledger, "pause"))
        await server.send(refusal(Code.STALE_POSITION, "too late", re=message.id))

    server.act = later


async def test_server_that_overtakes_without_a_record_is_not_asked_for_ever(server, player) -> None:
    async def late(message) -> None:
        await server.send(refusal(Code.STALE_POSITION, "too late", re=message.id))

    async with at_turn(server, player) as (table, _):
        server.act = late
        with pytest.raises(RefusedError, match="none was shown"):
            await table.pause()


@pytest.mark.parametrize("who", ["player", "guest"])
async def test_pause_overtaken_during_an_interruption_is_asked_for_again(
    server, who, request, autojump_clock
) -> None:
    server.agrees = False
    async with at_turn(server, request.getfixturevalue(who)) as (table, _):

        async def lost(_message) -> None:
            del server.act
            record = server.players[1].act(server.ledger, "pause")
            server.ledger = server.dealer.take(server.ledger, record)
            server.records.append(record)
            await server._stream.aclose()
            raise trio.BrokenResourceError

        server.act = lost
        await table.pause()
        await play_on(table, until=rests)
    assert server.ledger.pause.active


async def test_pause_is_sent_again_as_it_was_signed_after_a_loss(server, player, autojump_clock):
    server.agrees = False
    async with at_turn(server, player) as (table, _):

        async def lost(_message) -> None:
            del server.act
            await server._stream.aclose()
            raise trio.BrokenResourceError

        server.act = lost
        await table.pause()
    sent = [message.body for message in server.received if isinstance(message, SignedAct)][-2:]
    assert sent[0] == sent[1]


async def test_bot_joins_in_where_a_pause_or_its_end_is_asked_for(server, player) -> None:
    server.agrees = False
    async with at_turn(server, player) as (table, _):
        for kind, is_active in (("pause", True), ("resume", False)):
            await server.take(server.players[1].act(server.ledger, kind))
            await joined_in(table, server)
            assert server.ledger.pause.active is is_active


async def joined_in(table: Table, server) -> None:
    """Let a bot look on, without choosing anything, until the server has ruled on a pause."""

    with trio.CancelScope() as scope:

        def show(happening: Happening) -> None:
            if rests(happening) or goes_on(happening):
                scope.cancel()

        await play_match(table, simple_bot(1), show)
