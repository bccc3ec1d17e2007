"""What a stream tells of cards it does not show: two deals that differ only in cards hidden from a viewer look the same.

Each pair of matches is played by the same moves; the packs differ in cards of one seat that are not played. What the
others and a spectator receive must be equal but for the bytes that are hashes, signatures and boxes, and those as long;
and what goes to the seat itself must be as long, for anybody on the way can see that. Nor may it show elsewhere whether a
seat is offered what it may do, or finds it out by the rules.
"""

import os
import random
from dataclasses import dataclass, field, replace
from itertools import combinations

import pytest
import trio
import trio.testing
from server.conftest import QUICK, changed, running
from server.rawclient import RawClient, RawSeat, is_rash

from truc_protocol import dealing, own_steps
from truc_protocol.codec import dec, pack
from truc_protocol.ledger import seats_missing
from truc_protocol.wire.capabilities import OWN_OPTIONS
from truc_rules import Variant, preset
from truc_rules.cards import LARGEST_PACK
from truc_rules.contests.values import is_flor
from truc_words.house_variants import variant_file

pytestmark = pytest.mark.slow
ALTERED = 1
"""The seat whose cards differ: the dealer, who speaks last and may have had something to say long before."""
LARGEST = replace(
    preset("truc-french"),
    name="club-large",
    pack=tuple(f"{rank}{suit}" for suit in "shdc" for rank in range(1, LARGEST_PACK // 4 + 1)),
    order=tuple(map(str, range(1, LARGEST_PACK // 4 + 1))),
)
"""A house's own game with as many cards as any may have."""
GAMES = [
    (LARGEST.name, 2),
    ("truc-french", 2),
    ("truc-catalan", 2),
    ("truc-partnership", 4),
    ("truco-argentino", 2),
    ("truco-argentino-flor", 2),
    ("truco-argentino-flor", 4),
    ("truco-gauderio", 4),
    ("truco-uruguayo", 4),
    ("truco-venezolano", 2),
    ("truc-valencia", 2),
]
KNOWING = [((), ()), ((ALTERED,), (ALTERED,)), ((), (ALTERED,))]
"""In each of two deals, the seats that make their own options."""
SEEDS = range(int(os.environ.get("TRUC_EXAMPLES", "0")) // 10)
DEALS = [(*game, seed) for at, game in enumerate(GAMES) for seed in SEEDS or [at % len(KNOWING)]]
DEAL, ACT = b"\xabtruc/1/deal", b"\xaatruc/1/act"
LATER = (b"\xabtruc/1/open", b"\xactruc/1/close")
SAFE = ("play", "raise")
"""What the altered seat may do whatever it holds."""

SETTINGS = changed(QUICK, tables={"window_ms": 60_000}, match={"decision_ms": 0, "guests": 0})


@pytest.fixture
async def server(path, settings):
    (games := path / "variants").mkdir(mode=0o700, parents=True)
    (games / "large.toml").write_text(variant_file(LARGEST))
    async with running(path, settings) as server:
        yield server


def rules(game: str) -> Variant:
    return LARGEST if game == LARGEST.name else preset(game)


class Orderly(RawSeat):
    """A player who releases only when it is their turn among those who still have to: records come in one order."""

    async def follow(self) -> None:
        waiting = seats_missing(self.ledger)
        if not waiting or waiting[0] == self.seat:
            await super().follow()


@dataclass
class Script:
    """The moves of a hand by position: chosen at random once, then played again as they were."""

    dice: random.Random
    hidden: frozenset[str]
    moves: dict[int, tuple[int, str]] = field(default_factory=dict)
    is_over: bool = False

    def again(self) -> "Script":
        return Script(self.dice, self.hidden, self.moves, is_over=True)

    def choose(self, at: int, seat: int, options: list[dict], *, awaited: bool):
        """Return what `seat` does, or nothing; the script is over where the altered seat would have to tell."""
        if self.is_over:
            return next((option for option in options if self.moves.get(at) == (seat, option["key"])), None)
        if at in self.moves or not (awaited or self.dice.random() < 0.5):
            return None
        quiet = [option for option in options if not self._tells(seat, option)]
        if not quiet or len(self.moves) > 30:
            self.is_over = awaited
            return None
        option = self.dice.choice(quiet)
        self.moves[at] = (seat, option["key"])
        self.is_over = "flor" in option["kind"]  # from here on the rules tell the two deals apart
        return option

    def _tells(self, seat: int, option: dict) -> bool:
        """Whether a move may end the hand, or may hang on the cards that differ."""
        if seat != ALTERED:
            return is_rash(option) or option["kind"] in ("decline", "falta-envido")
        return option["kind"] not in SAFE or bool(self.hidden & set(option["key"].split()))


class Pair:
    """Two packs that differ in two cards of the altered seat, the second of which may make a flor."""

    def __init__(self, game: str, count: int, dice: random.Random) -> None:
        names = rules(game).pack
        order = list(range(len(names)))
        dice.shuffle(order)
        places = [slot * count + count - 1 for slot in range(3)]
        free = list(range(3 * count + 1, len(order)))
        up = (order[3 * count],)
        flores = [
            pair
            for pair in combinations(free, 2)
            if is_flor(rules(game), [order[at] for at in (places[0], *pair)], up)
        ]
        others = dice.choice(flores) if flores and dice.random() < 0.7 else dice.sample(free, 2)
        altered = list(order)
        for place, other in zip(places[1:], others, strict=True):
            altered[place], altered[other] = order[other], order[place]
        self.orders = (tuple(order), tuple(altered))
        self.hidden = frozenset(names[each[place]] for each in self.orders for place in places[1:])


def lengths(value):
    """Replace bytes by their length."""
    match value:
        case bytes():
            return len(value)
        case list() | tuple():
            return [lengths(item) for item in value]
        case dict():
            return {name: lengths(item) for name, item in value.items()}
        case _:
            return value


def seen(message: dict):
    """Return a message without what hashes, signatures and boxes are, but with how long they are."""
    body = dec(message["body"]) if message["t"] == "record" else None
    return lengths({**message, "body": body, "table": ""})


def since_deal(log: list[dict]) -> list[dict]:
    """Return what came from the first deal on, without the answers to what the viewer itself has asked."""
    start = next(at for at, it in enumerate(log) if it["t"] == "record" and it["body"][1:].startswith(DEAL))
    end = next(
        (at for at, it in enumerate(log) if it["t"] == "record" and it["body"][1:].startswith(LATER)),
        len(log),
    )
    return [message for message in log[start:end] if message["t"] not in ("pong", "ok", "table")]


def acts(seat: RawSeat) -> int:
    return sum(it["t"] == "record" and it["body"][1:].startswith(ACT) for it in since_deal(seat.client.log))


def chooser(seat: RawSeat, script: Script):
    def choose(message, options):
        awaited = message["must"] or any("waits" in option["hints"] for option in options)
        if has_cards(seat):
            return script.choose(message["at"], seat.seat, options, awaited=awaited)
        return next((option for option in options if awaited and option["key"] in ("cut", "deal 3")), None)

    return choose


async def play_hand(server, game: str, count: int, script: Script, knowing=()) -> list[list[dict]]:
    """Return what each seat, and last a spectator, received since the deal; `knowing` seats make their own options."""
    seats = [Orderly(await server.connect(), seed=at) for at in range(count)]
    for seat in seats:
        await seat.login(want=(OWN_OPTIONS,) if seats.index(seat) in knowing else ())
        seat.chooses = chooser(seat, script)
    code = await seats[0].create(game, seats=count)
    for at, seat in enumerate(seats[1:], 1):
        await seat.join(code, at)
    eye = await server.connect()
    await eye.login_guest()
    await eye.ask({"t": "watch", "table": code})
    for seat in seats:
        await seat.ready()
    with trio.fail_after(20):
        await follow(seats, script)
    return [since_deal(client.log) for client in await quiet([*(seat.client for seat in seats), eye])]


async def follow(seats, script: Script) -> None:
    """Let the seats play until the script is over and everybody has seen all of it."""
    async with trio.open_nursery() as nursery:
        for seat in seats:
            nursery.start_soon(seat.play, lambda _seat: False)
        while not (script.is_over and all(has_cards(it) and acts(it) == len(script.moves) for it in seats)):
            await trio.testing.wait_all_tasks_blocked(0.005)
        nursery.cancel_scope.cancel()


def has_cards(seat: RawSeat) -> bool:
    hand = seat.ledger.hand if seat.records else None
    return hand is not None and bool(hand.deals)


async def quiet(clients: list[RawClient]) -> list[RawClient]:
    """Receive all that is on its way, which a ping comes back after, and go."""
    for client in clients:
        await client.send({"t": "ping", "n": 1})
        await client.until("pong")
    for client in clients:
        await trio.aclose_forcefully(client.stream)
    return clients


async def both(server, monkeypatch, game: str, orders, script: Script, *, count: int = 2, knowing):
    """Play the same moves with either pack; return what everybody received in each."""
    monkeypatch.setattr(dealing, "first_dealer", lambda *_: ALTERED)
    monkeypatch.setattr(own_steps, "randbelow", lambda _below: 0)  # where to cut
    runs = []
    for order, those in zip(orders, knowing, strict=True):
        monkeypatch.setattr(dealing, "deck_order", lambda _seed, *, size, cut, order=order: order)
        runs.append(await play_hand(server, game, count, script, those))
        script = script.again()
    return runs


@pytest.mark.parametrize(("game", "count", "seed"), DEALS)
async def test_streams_of_two_deals_differ_for_nobody_else(server, monkeypatch, game, count, seed):
    knowing = KNOWING[seed % len(KNOWING)]
    dice = random.Random(f"{game} {count} {seed}")
    pair = Pair(game, count, dice)
    script = Script(dice, pair.hidden)
    one, other = await both(server, monkeypatch, game, pair.orders, script, count=count, knowing=knowing)
    for viewer in (seat for seat in range(count + 1) if seat != ALTERED):
        assert list(map(seen, one[viewer])) == list(map(seen, other[viewer])), f"viewer {viewer}"
    if knowing[0] == knowing[1]:
        sizes = [[(it["t"], len(pack(it))) for it in run[ALTERED]] for run in (one, other)]
        assert sizes[0] == sizes[1]


@pytest.mark.parametrize("knowing", [((), ()), ((0, 1), (0, 1)), ((), (1,))])
async def test_what_a_flor_is_followed_by_does_not_tell_whether_another_seat_has_one(
    server, monkeypatch, knowing
):
    """Seat 0 declares a flor; in the other deal seat 1 holds one too, and has not spoken yet."""
    game = "truco-argentino-flor"
    orders = [packed(game, top) for top in ("1e 1b 2e 2b 3e 4o", "1e 1b 2e 2b 3e 3b")]
    script = Script(random.Random(1), frozenset(), {8: (0, "flor")}, is_over=True)
    one, other = await both(server, monkeypatch, game, orders, script, knowing=knowing)
    for viewer in (0, 2):
        assert list(map(seen, one[viewer])) == list(map(seen, other[viewer]))


def packed(game: str, top: str) -> tuple[int, ...]:
    """Return the order of a pack with these cards on top."""
    names = preset(game).pack
    first = [names.index(name) for name in top.split()]
    return (*first, *(card for card in range(len(names)) if card not in first))
