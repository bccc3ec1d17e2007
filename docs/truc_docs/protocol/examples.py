"""One example of every form of every message, shown in the reference and encoded and decoded by the tests.

The values are plausible, not consistent: bodies are cut short, and signatures are made of one repeated byte.
"""

from typing import Final

from truc_protocol import messages
from truc_protocol.errors import Code
from truc_protocol.messages import AnyMessage, Direction, Message
from truc_protocol.records import Record

_TABLE: Final = "K7PQ"
_MATCH: Final = b"\x33" * 32
_BODY: Final = b"\x92\xaatruc/1/..."
_SIG: Final = b"\x77" * 64
_BEARER: Final = "qRw5Jt1mYdX0cVbN7aHk"
_TAG: Final = "ZVV6WXV7Q2DLGELQ2C7FLAE6YA"
_DOC: Final = b"\x96\xactruc/1/rules"
_IN, _OUT = Direction.TO_SERVER, Direction.TO_CLIENT

_OPEN_TABLE: Final = messages.TableState(
    table=_TABLE,
    variant="truc-french",
    rules=b"\x44" * 32,
    seats=(
        messages.SeatState(seat=0, kind="key", name="Ana", player=_TAG, ready=True, online=True),
        messages.SeatState(seat=1, kind="empty"),
    ),
    n=2,
    state="open",
    private=False,
    options={"match": 3},
    opts=(30_000, 120_000),
    policy="hand",
    expires_ms=600_000,
    age_ms=1_200_000,
)


INFO: Final = messages.Info(
    name="Casa",
    software="truc 0.1.0",
    caps={"history": 64, "lobby": True, "seek": True},
    limits=messages.Limits(frame_in=8192, frame_out=65536, idle_s=30, requests_per_s=10, burst=20),
    variants=(messages.VariantOffer(name="truc-french", seats=(2,)),),
    guests=True,
    now_ms=1_790_000_000_000,
)
"""What a server says about itself, which is packed inside its hello."""

EXAMPLES: Final[tuple[tuple[Direction, AnyMessage], ...]] = (
    (
        _IN,
        messages.ClientHello(
            id=1,
            proto=(1,),
            cn=b"\x11" * 32,
            client=messages.Software(name="example", version="0.1", lang="python"),
        ),
    ),
    (
        _OUT,
        messages.ServerHello(
            re=1, body=_BODY, sig=_SIG, info=b"\x81\xa4name\xa4Casa", rolls=((_BODY, _SIG, _SIG),)
        ),
    ),
    (_IN, messages.KeyLogin(id=2, body=_BODY, sig=_SIG, name="Ana")),
    (_IN, messages.GuestLogin(id=2, name="Ben")),
    (_IN, messages.GuestReturn(id=2, token=_BEARER)),
    (
        _OUT,
        messages.Welcome(
            re=2,
            name="Ben",
            token=_BEARER,
            seats=(messages.SeatHeld(table=_TABLE, match=_MATCH, seat=1),),
        ),
    ),
    (_OUT, messages.Ok(re=3, table=_TABLE, seat=0)),
    (
        _OUT,
        messages.refusal(
            Code.NO_SUCH_TABLE, "expected the code of a table, got 'K7PX'", re=4, field="table", detail={}
        ),
    ),
    (_OUT, messages.bye(Code.SHUTTING_DOWN, "the server is being stopped", reconnect_after_ms=5_000)),
    (_IN, messages.ListTables(id=3, variant="truc-french", after="K7PA")),
    (_IN, messages.ReadRules(id=3, variant="truc-french")),
    (_IN, messages.Create(id=3, variant="truc-french", seats=2, options={"match": 3}, seat=0, private=True)),
    (_IN, messages.Join(id=4, table=_TABLE, seat=1)),
    (_IN, messages.Leave(id=5, table=_TABLE)),
    (_IN, messages.Ready(id=6, table=_TABLE, x=b"\x55" * 32)),
    (_IN, messages.Unready(id=7, table=_TABLE)),
    (_OUT, _OPEN_TABLE),
    (_OUT, messages.TableClosed(table=_TABLE, reason="expired")),
    (_OUT, messages.Terms(table=_TABLE, record=Record(0, _BODY, _SIG), doc=_DOC)),
    (
        _OUT,
        messages.Setup(
            table=_TABLE,
            match=_MATCH,
            doc=_DOC,
            records=(
                Record(0, _BODY, _SIG),
                Record(1, _BODY, _SIG),
                Record(2, _BODY, _SIG),
                Record(0, _BODY, _SIG),
            ),
        ),
    ),
    (
        _OUT,
        messages.MatchRecord(
            table=_TABLE,
            match=_MATCH,
            k=7,
            signer=1,
            body=_BODY,
            sig=_SIG,
            means=({"what": "card_played", "seat": 0, "card": "7e"},),
        ),
    ),
    (
        _OUT,
        messages.BoxedOptions(
            table=_TABLE, match=_MATCH, at=8, offer=7, must=True, deadline_ms=30_000, box=b"\x66" * 32
        ),
    ),
    (
        _OUT,
        messages.OpenOptions(
            table=_TABLE,
            match=_MATCH,
            at=6,
            offer=5,
            must=True,
            choices=(messages.Choice(key="play 7e", kind="play", hints={}),),
        ),
    ),
    (_OUT, messages.OwnCards(table=_TABLE, match=_MATCH, k=5, j=1, d=0, cards=("7e", "3o", "4b"))),
    (_OUT, messages.Waiting(table=_TABLE, match=_MATCH, at=8, seats=(0,), deadline_ms=30_000)),
    (_OUT, messages.Away(table=_TABLE, match=_MATCH, seat=1, missed=1, claim_in_ms=60_000)),
    (_IN, messages.SignedAct(id=8, table=_TABLE, match=_MATCH, body=_BODY, sig=_SIG)),
    (_IN, messages.GuestAct(id=8, table=_TABLE, match=_MATCH, at=6, choose="play 7e")),
    (_IN, messages.BoxedSign(id=12, table=_TABLE, match=_MATCH, at=8, to=2, box=b"\x66" * 32)),
    (_IN, messages.OpenSign(id=12, table=_TABLE, match=_MATCH, at=8, word="three")),
    (_OUT, messages.BoxedSignSeen(table=_TABLE, match=_MATCH, at=8, sender=0, box=b"\x66" * 32)),
    (_OUT, messages.OpenSignSeen(table=_TABLE, match=_MATCH, at=8, sender=0, word="three")),
    (_IN, messages.Say(id=13, table=_TABLE, phrase="come")),
    (_OUT, messages.Said(table=_TABLE, seat=1, phrase="come")),
    (_IN, messages.ClaimMatch(id=15, table=_TABLE, match=_MATCH)),
    (_IN, messages.WantRekey(id=14, table=_TABLE, match=_MATCH)),
    (_IN, messages.Resume(id=9, table=_TABLE, match=_MATCH, next=-1)),
    (_IN, messages.Watch(id=10, table=_TABLE)),
    (_IN, messages.Unwatch(id=11, table=_TABLE)),
    (_OUT, messages.SeatTakenOver(table=_TABLE, seat=1)),
    (
        _OUT,
        messages.Snapshot(
            table=_TABLE,
            match=_MATCH,
            k=31,
            head=b"\x88" * 32,
            doc=_DOC,
            records=(Record(0, _BODY, _SIG), Record(1, _BODY, _SIG), Record(0, _BODY, _SIG)),
            view={
                "what": "state",
                "phase": "between",
                "score": [[0, 0, 1], [0, 0, 0]],
                "dealer": 1,
                "stake": 1,
                "tricks": [],
                "waiting": [],
            },
        ),
    ),
    (_IN, messages.History(id=15, match=_MATCH, first=-1, limit=64)),
    (_IN, messages.FollowLobby(id=16)),
    (_OUT, messages.LobbyState(online=12, tables=4, playing=3)),
    (_IN, messages.ListPlayers(id=17, after=_TAG)),
    (_IN, messages.Seek(id=18, variant="truc-french", seats=2, options={"match": 3})),
    (_OUT, messages.BotWanted(table=_TABLE, match=_MATCH, seat=1, variant="truc-french", left_ms=60_000)),
    (_OUT, messages.PlayersWanted(table=_TABLE, seat=1, variant="truc-french")),
    (_IN, messages.Chat(id=19, table=_TABLE, text="well played")),
    (_OUT, messages.ChatLine(table=_TABLE, n=4, player=_TAG, name="Ana", seat=0, text="well played")),
    (_IN, messages.Ignore(id=20, player=_TAG)),
    (_IN, messages.Forget(id=21)),
    (_IN, messages.Moderate(id=26, do="mute", player=_TAG, hours=24)),
    (_IN, messages.Leaderboard(id=22, variant="truc-french", seats=2, first=50)),
    (_IN, messages.Profile(id=23, player=_TAG)),
    (_IN, messages.ListMatches(id=24, after=_MATCH)),
    (_OUT, messages.Capabilities(add={"example.org/rematch": 1}, gone=("seek",))),
    (_OUT, messages.Draining(left_ms=60_000)),
    (_OUT, messages.HostSays(text="Tonight at nine the server moves.")),
    (_IN, messages.Ping(n=1)),
    (_IN, messages.Pong(n=1)),
    (_OUT, messages.Ping(n=1)),
    (_OUT, messages.Pong(n=1, now_ms=1_790_000_000_000)),
)


def example_of(direction: Direction, kind: type[Message]) -> AnyMessage:
    """Return the example of one form of a message."""
    return next(message for way, message in EXAMPLES if way is direction and type(message) is kind)
