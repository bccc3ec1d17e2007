"""Signs and phrases at the client: how they leave, how they come, and what is not believed."""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
import trio
from client.playing import at_table, pick, play_on
from rich.console import Console

from truc_client import (
    CardsDealt,
    ChoiceError,
    Interrupted,
    MatchStarted,
    PhraseSaid,
    Player,
    RefusedError,
    Signed,
    YourTurn,
    connect,
    open_home,
)
from truc_client.table import Table
from truc_conform.scripted import ScriptedServer
from truc_conform.shown import CODE
from truc_protocol.boxes import counter, open_sign_up, private_key, seal_sign, upward_key
from truc_protocol.errors import Code
from truc_protocol.messages import BoxedSign, BoxedSignSeen, Ok, OpenSign, OpenSignSeen, Said, Say, refusal
from truc_terminal.screen.person import Lines, Person, Typed
from truc_terminal.screen.screen import Screen

CATALAN = "truc-catalan"


class TalkingServer(ScriptedServer):
    """A server that answers signs and phrases, and makes signs in the name of any seat."""

    def __init__(self, *args, **options) -> None:
        super().__init__(*args, **options)
        self.answers = []

    async def serve_request(self, message) -> None:
        if not isinstance(message, BoxedSign | OpenSign | Say):
            await super().serve_request(message)
            return
        code = self.answers.pop(0) if self.answers else None
        await self.send(Ok(re=message.id) if code is None else refusal(code, "no", re=message.id))

    @property
    def asked(self) -> list:
        """What was signed and said by the seat under test."""
        return [each for each in self.received if isinstance(each, BoxedSign | OpenSign | Say)]

    @property
    def here(self) -> dict:
        return {"table": CODE, "match": self.setup.match, "at": self.ledger.k}

    def word(self, message: BoxedSign) -> str:
        key = upward_key(self.dealer.shared(self.ledger, 0), self.setup.match, 0)
        return open_sign_up(key, self.setup.match, seat=0, at=message.at, to=message.to, box=message.box)

    def boxed(self, word: str, sender: int = 2) -> BoxedSignSeen:
        self.boxes += 1
        mid = self.setup.match
        key = private_key(self.dealer.shared(self.ledger, 0), mid, 0)
        ctr = counter(epoch=self.epoch, number=self.boxes)
        box = seal_sign(key, mid, seat=0, at=self.ledger.k, sender=sender, ctr=ctr, word=word)
        return BoxedSignSeen(**self.here, sender=sender, box=box)

    def clear(self, word: str, sender: int = 2, **fields) -> OpenSignSeen:
        return OpenSignSeen(**{**self.here, "sender": sender, "word": word, **fields})


@pytest.fixture
def talking(nursery):
    def make(variant=CATALAN, *, seats=4, **options) -> TalkingServer:
        server = TalkingServer(variant, seats=seats, **options)
        server.nursery = nursery
        return server

    return make


def in_hand(happening) -> bool:
    """Tell whether a card may be played now."""
    return isinstance(happening, YourTurn) and any(choice.kind == "play" for choice in happening.options)


@asynccontextmanager
async def in_the_hand(server, player) -> AsyncIterator[Table]:
    """Let a player be at a table of the server's where a card may be played now."""
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.create(CATALAN)
        await table.ready()
        await play_on(table, until=in_hand)
        yield table


def is_told(happening) -> bool:
    return isinstance(happening, Signed | PhraseSaid)


# What may be signed


@pytest.mark.parametrize(("seats", "words"), [(2, ()), (4, ("three", "two", "ace"))])
async def test_words_to_sign_are_told_only_where_somebody_sees_them(talking, player, seats, words) -> None:
    server = talking(seats=seats)
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.create(CATALAN)
        await table.ready()
        seen = await play_on(table, until=lambda happening: isinstance(happening, MatchStarted))
    assert seen[-1].signs == words


# How they leave


async def test_keyed_seat_signs_in_a_box_to_its_partner_under_a_nonce_of_its_own(talking, player) -> None:
    server = talking()
    async with in_the_hand(server, player) as table:
        await table.sign("three")
        await table.sign("three")
    first, second = server.asked
    assert (type(first), first.to, first.at, server.word(first)) == (BoxedSign, 2, server.ledger.k, "three")
    assert first.box[:12] != second.box[:12]


async def test_guest_signs_in_clear(talking, guest) -> None:
    server = talking()
    async with in_the_hand(server, guest) as table:
        await table.sign("three")
    assert [(type(message), message.word) for message in server.asked] == [(OpenSign, "three")]


async def test_refused_sign_says_why_and_one_that_a_record_has_overtaken_is_made_again_a_few_times(
    talking, player
) -> None:
    server = talking()
    server.answers = [Code.ILLEGAL_ACTION, Code.STALE_POSITION]
    async with in_the_hand(server, player) as table:
        with pytest.raises(RefusedError) as refused:
            await table.sign("three")
        assert refused.value.code == Code.ILLEGAL_ACTION
        await table.sign("three")
        assert [server.word(message) for message in server.asked] == ["three", "three", "three"]
        server.answers = [Code.STALE_POSITION] * 20
        with pytest.raises(RefusedError) as refused:
            await table.sign("three")
    assert (refused.value.code, len(server.asked)) == (Code.STALE_POSITION, 3 + 8)


async def test_sign_is_not_made_in_the_next_hand() -> None:
    match = SimpleNamespace(mid=b"m", is_yielded=False, ledger=SimpleNamespace(deal_index=3))
    followed = SimpleNamespace(code=CODE, match=match, reports=SimpleNamespace(failure=None))

    async def request(build) -> None:
        match.ledger.deal_index += 1
        build(1)

    with pytest.raises(ChoiceError, match="the hand is over"):
        await Table(SimpleNamespace(request=request), followed).sign("three")


async def test_nothing_is_signed_where_nobody_sees_it(talking, player) -> None:
    server = talking("truc-french", seats=2)
    async with at_table(server, player) as table:
        await play_on(table, until=lambda happening: isinstance(happening, YourTurn))
        with pytest.raises(ChoiceError, match="nobody sees"):
            await table.sign("three")
    assert server.asked == []


async def test_nothing_is_signed_without_a_match(talking, player) -> None:
    async with connect("host", player, dial=talking().dial) as connection:
        table = await connection.create(CATALAN)
        with pytest.raises(ChoiceError, match="no match"):
            await table.sign("three")


async def test_phrase_goes_to_the_table_and_if_it_is_refused_says_why(talking, player) -> None:
    server = talking()
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.create(CATALAN)
        await table.say("come")
        assert [(message.table, message.phrase) for message in server.asked] == [(CODE, "come")]
        server.answers = [Code.ILLEGAL_ACTION]
        with pytest.raises(RefusedError):
            await table.say("come")


# How they come


async def told(server, player, make):
    """Return what a client tells of a message that the server makes in the middle of a hand."""
    async with in_the_hand(server, player) as table:
        for message in make(server):
            await server.send(message)
        return [happening for happening in await play_on(table, until=is_told) if is_told(happening)]


async def dropped(server, player, make) -> str:
    """Return for what the client drops a line on which the server, or somebody on the way, has sent something."""
    async with in_the_hand(server, player) as table:
        for message in make(server):
            await server.send(message)
        seen = await play_on(table, until=lambda happening: isinstance(happening, Interrupted))
    return seen[-1].reason


async def test_sign_to_a_guest_is_told_but_neither_its_own_nor_one_of_another_position(
    talking, guest
) -> None:
    def make(server):
        return [server.clear("two", at=1), server.clear("two", sender=0), server.clear("ace")]

    assert await told(talking(), guest, make) == [Signed(2, "ace")]


async def test_sign_to_the_whole_table_is_told(talking, player) -> None:
    server = talking(signals="table")
    assert await told(server, player, lambda server: [server.clear("two", sender=3)]) == [Signed(3, "two")]


async def test_phrase_is_told(talking, player) -> None:
    seen = await told(talking(), player, lambda server: [Said(table=CODE, seat=1, phrase="dry")])
    assert seen == [PhraseSaid(1, "dry")]


async def test_sign_outside_its_box_is_not_believed(talking, player) -> None:
    reason = await dropped(talking(), player, lambda server: [server.clear("two")])
    assert "expected a sign in a box" in reason


async def test_sign_that_is_sent_twice_is_believed_once(talking, player) -> None:
    def twice(server):
        message = server.boxed("two")
        return [message, message]

    assert "counter above" in await dropped(talking(), player, twice)


async def test_sign_in_a_box_is_not_believed_by_a_guest_without_one(talking, guest) -> None:
    def boxed(server):
        return [BoxedSignSeen(**server.here, sender=2, box=bytes(300))]

    assert "expected a sign in clear" in await dropped(talking(), guest, boxed)


async def test_word_that_the_game_has_not_is_not_told(talking, player) -> None:
    assert "expected a word" in await dropped(talking(), player, lambda server: [server.boxed("wink")])


async def test_sign_of_a_seat_that_is_not_there_is_not_told(talking, player) -> None:
    assert "C9" in await dropped(talking(), player, lambda server: [server.boxed("two", sender=9)])


async def test_sign_in_a_box_is_told_and_options_after_it_are_opened(talking, player) -> None:
    server = talking()
    async with in_the_hand(server, player) as table:
        await server.send(server.boxed("two"))
        await server.send_options()
        sign, turn = await play_on(table, until=in_hand)
    assert (sign, type(turn)) == (Signed(2, "two"), YourTurn)


# Over a socket


async def play_and_sign(url, player, code, codes, hear) -> None:
    """Play; seat 0 signs as soon as it has cards; everybody tells what they hear."""
    async with connect(url, player) as connection:
        if code is None:
            table = await connection.create("truco-argentino", seats=4, private=True)
            await codes.send(table.code)
        else:
            table = await connection.join(code)
        await table.ready()
        async for happening in table:
            match happening:
                case CardsDealt() if table.seat == 0:
                    await table.say("come")
                    await table.sign("three")
                case Signed() | PhraseSaid():
                    hear.send_nowait((table.seat, happening))
                case YourTurn() if table.seat != 0:
                    await table.choose(pick(happening))


@pytest.mark.slow
async def test_sign_reaches_the_partner_alone_and_a_phrase_everybody(real_server, tmp_path) -> None:
    players = [Player(open_home(tmp_path / str(seat)), f"player {seat}") for seat in range(4)]
    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            codes, opened = trio.open_memory_channel(1)
            hear, hearing = trio.open_memory_channel(100)
            nursery.start_soon(play_and_sign, real_server.url, players[0], None, codes, hear)
            code = await opened.receive()
            for player in players[1:]:
                nursery.start_soon(play_and_sign, real_server.url, player, code, codes, hear)
            heard = [await hearing.receive() for _ in range(5)]
            nursery.cancel_scope.cancel()
    signs = [each for each in heard if isinstance(each[1], Signed)]
    phrases = [each for each in heard if isinstance(each[1], PhraseSaid)]
    assert signs == [(2, Signed(0, "three"))]
    assert sorted(phrases) == [(seat, PhraseSaid(0, "come")) for seat in range(4)]


# At the terminal


class FakeTable:
    def __init__(self, error: Exception | None = None) -> None:
        self.done: list[tuple[str, str]] = []
        self.error = error

    async def sign(self, word: str) -> None:
        self.done.append(("sign", word))
        if self.error is not None:
            raise self.error

    async def say(self, phrase: str) -> None:
        self.done.append(("say", phrase))

    async def chat(self, text: str) -> None:
        self.done.append(("chat", text))


def screen() -> Screen:
    return Screen(Console(file=io.StringIO(), width=100))


def printed(shown: Screen) -> str:
    return shown._console.file.getvalue()


@pytest.mark.parametrize(
    ("line", "done"),
    [
        ("sign three", ("sign", "three")),
        ("say  come", ("say", "come")),
        ("chat  Good luck, all", ("chat", "Good luck, all")),
    ],
)
async def test_line_signs_says_or_chats(line, done) -> None:
    table = FakeTable()
    goes_on = await Person(table, screen(), Lines(None))._take(Typed(line))
    assert (table.done, goes_on) == ([done], True)


async def test_refused_sign_is_shown(player) -> None:
    shown = screen()
    error = RefusedError("illegal_action", "seat 0 cannot sign three: it has no partner")
    await Person(FakeTable(error), shown, Lines(None))._take(Typed("sign three"))
    assert "You cannot sign a three now" in printed(shown)


STARTED = MatchStarted(
    bytes(32), "truco-argentino", ("1e", "7o"), ("Ana", "Ben"), 0, "A", None, words="argentine", target=30
)


@pytest.mark.parametrize("happening", [Signed(1, "ace-swords"), PhraseSaid(1, "come")])
def test_what_is_heard_is_shown_with_its_seat(happening) -> None:
    shown = screen()
    shown.show(STARTED)
    shown.show(happening)
    assert "Ben" in printed(shown).splitlines()[-1]


def test_phrase_before_the_match_is_shown_with_the_number_of_its_seat() -> None:
    shown = screen()
    shown.show(PhraseSaid(1, "come"))
    assert printed(shown).startswith("seat 1 ")
