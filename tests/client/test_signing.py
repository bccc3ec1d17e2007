"""Signs and phrases at the client: how they leave, how they come, and what is not believed."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest
from client.playing import at_table, my_turn, play_on
from client.strict import Strict

from truc_client import (
    ChoiceError,
    Interrupted,
    MatchStarted,
    PhraseSaid,
    RefusedError,
    SignMade,
    YourTurn,
    connect,
)
from truc_client.table import Table
from truc_conform.shown import CODE
from truc_protocol.boxes import counter, downward_key, open_sign_up, seal_sign, upward_key
from truc_protocol.errors import Code
from truc_protocol.messages import BoxedSign, BoxedSignSeen, Ok, OpenSign, OpenSignSeen, Said, Say, refusal

CATALAN = "truc-catalan"


class TalkingServer(Strict):
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
        key = downward_key(self.dealer.shared(self.ledger, 0), mid, 0)
        ctr = counter(epoch=self.epoch, number=self.boxes)
        box = seal_sign(key, mid, seat=0, at=self.ledger.k, sender=sender, ctr=ctr, word=word)
        return BoxedSignSeen(**self.here, sender=sender, box=box)

    def clear(self, word: str, sender: int = 2, **fields) -> OpenSignSeen:
        return OpenSignSeen(**{**self.here, "sender": sender, "word": word, **fields})


@pytest.fixture
def talking(scripted):
    def make(variant=CATALAN, *, seats=4, **options) -> TalkingServer:
        return scripted(variant, seats=seats, kind=TalkingServer, **options)

    return make


def in_hand(happening) -> bool:
    """Tell whether a card may be played now."""
    return isinstance(happening, YourTurn) and any(choice.kind == "play" for choice in happening.options)


@asynccontextmanager
async def in_the_hand(server, player) -> AsyncIterator[Table]:
    """Let a player be at a table of the server's where a card may be played now."""
    async with at_table(server, player) as table:
        await play_on(table, until=in_hand)
        yield table


# What may be signed


@pytest.mark.parametrize(("seats", "words"), [(2, ()), (4, ("three", "two", "ace"))])
async def test_words_to_sign_are_told_only_where_somebody_sees_them(talking, player, seats, words) -> None:
    server = talking(seats=seats)
    async with at_table(server, player) as table:
        seen = await play_on(table, until=MatchStarted)
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


async def test_refused_sign_says_why_and_one_that_is_overtaken_is_made_again(talking, player):
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
        await Table(SimpleNamespace(line=SimpleNamespace(request=request)), followed).sign("three")


async def test_nothing_is_signed_without_a_match_or_where_nobody_sees_it(talking, player) -> None:
    server = talking("truc-french", seats=2)
    async with connect("host", player, dial=server.dial) as connection:
        table = await connection.create("truc-french")
        with pytest.raises(ChoiceError, match="no match"):
            await table.sign("three")
        await table.ready()
        await play_on(table, until=my_turn)
        with pytest.raises(ChoiceError, match="nobody sees"):
            await table.sign("three")
    assert server.asked == []


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


@pytest.mark.parametrize(
    ("who", "signals", "sent", "told"),
    [
        (
            "guest",
            "partner",
            lambda server: [server.clear("two", at=1), server.clear("two", sender=0), server.clear("ace")],
            SignMade(2, "ace"),  # neither one of another position nor its own
        ),
        ("player", "table", lambda server: [server.clear("two", sender=3)], SignMade(3, "two")),
        (
            "player",
            "partner",
            lambda _server: [Said(table=CODE, seat=1, phrase="dry")],
            PhraseSaid(1, "dry"),
        ),
    ],
    ids=["sign to a guest", "sign to the whole table", "phrase"],
)
async def test_sign_or_phrase_is_told(talking, request, who, *, signals, sent, told) -> None:
    server = talking(signals=signals)
    async with in_the_hand(server, request.getfixturevalue(who)) as table:
        for message in sent(server):
            await server.send(message)
        seen = await play_on(table, until=SignMade | PhraseSaid)
    assert [happening for happening in seen if isinstance(happening, SignMade | PhraseSaid)] == [told]


@pytest.mark.parametrize(
    ("who", "make", "why"),
    [
        ("player", lambda server: [server.clear("two")], "expected a sign in a box"),
        ("player", lambda server: [server.boxed("two")] * 2, "counter above"),
        (
            "guest",
            lambda server: [BoxedSignSeen(**server.here, sender=2, box=bytes(300))],  # who has no box
            "expected a sign in clear",
        ),
        ("player", lambda server: [server.boxed("wink")], "expected a word"),
        ("player", lambda server: [server.boxed("two", sender=9)], "C9"),
    ],
    ids=["outside its box", "sent twice", "in a box to a guest", "no word", "no seat"],
)
async def test_sign_that_cannot_be_one_is_not_believed_and_drops_the_line(talking, request, who, make, why):
    server = talking()
    async with in_the_hand(server, request.getfixturevalue(who)) as table:
        for message in make(server):
            await server.send(message)
        seen = await play_on(table, until=Interrupted)
    assert why in seen[-1].reason


async def test_sign_in_a_box_is_told_and_options_after_it_are_opened(talking, player) -> None:
    server = talking()
    async with in_the_hand(server, player) as table:
        await server.send(server.boxed("two"))
        await server.send_options()
        sign, turn = await play_on(table, until=in_hand)
    assert (sign, type(turn)) == (SignMade(2, "two"), YourTurn)
