"""A table with one remote seat, its match, and what comes next there; the other seats are puppets.

Where the client watches, a puppet has that seat too. `client_harness` is the server around the table: it sends what leaves.
State outlives a connection. It is no table to play at: it trusts its one client, and has no clock.
"""

import random
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from msgspec.structs import replace

from truc_conform import playing
from truc_conform.playing import Picks, Puppet, secret
from truc_conform.result import AnyAct
from truc_conform.shown import CODE, open_options, table_state
from truc_protocol import messages
from truc_protocol.bodies import Deal, Guest, Rekey, Sub
from truc_protocol.boxes import Option, counter, downward_key, seal_options
from truc_protocol.crypto import keys
from truc_protocol.dealer import Dealer
from truc_protocol.documents import rule_document
from truc_protocol.errors import Code
from truc_protocol.ledger import Due, Ledger, due, seats_missing, start_ledger
from truc_protocol.ledger.state import is_exhausted
from truc_protocol.match_secrets import MatchSecrets
from truc_protocol.records import DEALT, Phase, Record, parse
from truc_protocol.setup import Opts, close_setup, open_terms
from truc_rules import Action, preset, with_options

if TYPE_CHECKING:
    from truc_protocol.ledger.facts import Fact


class PlayedGame(NamedTuple):
    """What is played at the table.

    Attributes:
        options: its house rules, beside `match`; a low target makes a match short.
        opts: the terms.
        links: how many deals a chain serves.
    """

    variant: str = "truc-french"
    seats: int = 2
    options: Mapping[str, int | str] = MappingProxyType({"target": 2})
    opts: Opts = Opts(guests=1)
    links: int = 64


FRENCH: Final = PlayedGame()


class ScriptedTable(ABC):
    """One table; the client under test plays seat 0, with a key or as a guest, or watches.

    A scene may set:
        forge: changes a record before it is taken.
        twist: changes an option before it is offered.
        one_counter: every box of options has the same counter.
        tells_optional: options that are not `must` are sent too.
        pick: how the puppets decide; at random, if nothing else is set.
        instead: a record that comes before what would come next, if it returns one.
        stop_at: how many records a match has before anybody watches it.
        is_away: rulings play for the remote seat.
        goes_on: called at each record of the match.

    Attributes:
        has_sat, is_watched: the client took the seat, or watches.
        offers: what the client could choose, by position.
        boxed_lines: the same, by the box that it was sent in.
    """

    def __init__(self, game: PlayedGame, *, seed: int) -> None:
        self.key = keys.signing_key_from_seed(secret("server", seed))
        # One game is a match, unless a scene asks for more: some presets play for several.
        self.variant = with_options(preset(game.variant), {"match": 1, **game.options})
        self.seats, self.opts, self.links = game.seats, game.opts, game.links
        self.seed = seed
        self.random = random.Random(seed)
        self.document = rule_document(self.variant)
        self.forge: Callable[[Record], Record] = lambda record: record
        self.twist: Callable[[Option], Option] = lambda option: option
        self.one_counter = self.tells_optional = False
        self.pick: Picks = lambda _ledger: partial(playing.drawn, dice=self.random)
        self.instead: Callable[[], Record | None] = lambda: None
        self.stop_at: int | None = None
        self.goes_on: Callable[[], None] = lambda: None
        self.is_guest = False
        self.is_seated = self.is_ready = self.is_watched = self.has_sat = False
        self.epoch = 0
        self.boxes = 0
        self.offer: int | None = None
        self.offers: dict[int, tuple[str, ...]] = {}
        self.boxed_lines: dict[bytes, tuple[str, ...]] = {}
        self.signed_mode = DEALT
        self.is_call_held = False
        self.is_away = False
        self.rules_for_lost = True
        self.match = 0
        self.ledger: Ledger | None = None
        self.records: list[Record] = []
        self.facts: dict[int, tuple[Fact, ...]] = {}
        self.players: dict[int, Puppet] = {}
        self.setup: messages.Setup | None = None
        self.terms: messages.Terms | None = None

    @abstractmethod
    async def send(self, message: messages.ServerMessage) -> None:
        """Send a message to the client."""

    async def seat(self, message: messages.Create | messages.Join) -> None:
        """Give the client the remote seat, and tell it who sits at the table."""
        if isinstance(message, messages.Join) and message.table != CODE:
            text = f"there is no table {message.table}"
            await self.send(messages.refusal(Code.NO_SUCH_TABLE, text, re=message.id))
            return
        # A new table, at which no match has begun.
        if isinstance(message, messages.Create):
            self.ledger = self.terms = self.setup = None
        self.is_seated = self.has_sat = True
        await self.send(messages.Ok(re=message.id, table=CODE, seat=0))
        await self.send(self.state())
        # session.md, "Coming back": `join` brings `table`, then the terms that are out.
        if self.terms is not None and self.ledger is None:
            await self.send(self.terms)

    async def get_ready(self, message: messages.Ready) -> None:
        """Offer the terms, unless they are out, or the match is played."""
        is_over = self.ledger is not None and self.ledger.phase is Phase.ENDED
        if self.terms is not None and not is_over:
            text = "expected an open table, got one whose terms are out or whose match is played"
            await self.send(messages.refusal(Code.TABLE_NOT_OPEN, text, re=message.id))
            return
        self.is_ready = True
        await self.send(messages.Ok(re=message.id))
        await self.offer_terms()

    async def hold_call_back(self, message: messages.WantRekey) -> None:
        """Hold the next call back for the remote seat."""
        await self.send(messages.Ok(re=message.id))
        self.is_call_held, self.is_away = True, self.rules_for_lost
        await self.go_on()

    def held(self) -> tuple[messages.SeatHeld, ...]:
        """Return the seat of the client, also of a match that is over."""
        if self.is_watched or not self.is_seated:
            return ()
        return (
            messages.SeatHeld(table=CODE, match=None if self.setup is None else self.setup.match, seat=0),
        )

    def state(self) -> messages.TableState:
        """Return the state of the table as it is."""
        state = table_state(self.variant, self.opts, self.seats)
        others = tuple(replace(seat, ready=True, online=True) for seat in state.seats[1:])
        kind: Literal["guest", "key"] = "guest" if self.is_guest else "key"
        own = messages.SeatState(seat=0, kind="empty")
        if self.is_seated or self.is_watched:
            own = messages.SeatState(seat=0, kind=kind, name="player 0", ready=self.is_ready, online=True)
        if self.ledger is None:
            return replace(state, seats=(own, *others), state="open" if self.terms is None else "terms")
        now: Literal["over", "playing"] = "over" if self.ledger.phase is Phase.ENDED else "playing"
        return replace(state, seats=(own, *others), state=now, match=self.ledger.setup.mid)

    def make_terms(self) -> Record:
        """Make the terms of a match, which has its own secrets."""
        self.match += 1
        root, x = (secret(f"{name} {self.match}", self.seed) for name in ("root", "x"))
        self.dealer = Dealer(self.key, MatchSecrets(root, x, self.nonce()), links=self.links)
        record = self.table_record()
        self.terms = messages.Terms(table=CODE, record=record, doc=self.document)
        return record

    def table_record(self, dealer: Dealer | None = None, **changes: Any) -> Record:
        """Return the record of the terms, signed by the match's dealer or another, with some of what it says changed."""
        says: dict[str, Any] = {"variant": self.variant, "seats": self.seats, "mode": self.signed_mode}
        says |= {"opts": self.opts, "name": "a server", "opened_at": 1_700_000_000, **changes}
        return (dealer or self.dealer).terms(**says).record

    def nonce(self) -> bytes:
        """Return the nonce of the next table record: a new one in each run for a key, which may remember those it met."""
        return secret(f"tn {self.match}", self.seed) if self.is_guest else secrets.token_bytes(32)

    async def offer_terms(self) -> None:
        """Offer the terms to a client with a key; with a guest the match begins."""
        record = self.make_terms()
        if self.is_guest:
            terms = open_terms(self.document, record)
            await self.begin(self.dealer.guest_record(Guest(terms.th, 0, None, b"guest")))
        elif self.terms is not None:
            await self.send(self.terms)

    async def begin(self, own: Record) -> None:
        """Start the match with the record of the remote seat."""
        if self.terms is None:
            raise RuntimeError("a match begins after its terms")
        self.is_ready = False
        terms = open_terms(self.document, Record(*self.terms.record))
        self.players = {seat: Puppet(seat, self.seed + self.match) for seat in range(1, self.seats)}
        seats = (own, *(player.join(terms) for player in self.players.values()))
        checked = close_setup(terms, seats, self.dealer.match_record(terms, seats))
        self.ledger, self.records, self.facts = start_ledger(checked), [], {}
        self.setup = messages.Setup(table=CODE, match=checked.mid, doc=self.document, records=checked.records)
        await self.send(self.setup)
        await self.go_on()

    def at_play(self) -> Ledger:
        """Return the match so far; RuntimeError if there is none."""
        if self.ledger is None:
            raise RuntimeError("no match is played")
        return self.ledger

    async def hand_in(self, message: AnyAct) -> None:
        """Take a record of the match, or a guest's choice, and go on."""
        ledger, record = self.at_play(), self.record_of(message)
        # The same bytes again are safe at any time (session.md, "Coming back").
        if record in self.records:
            await self.send(messages.Ok(re=message.id, k=self.records.index(record), dup=True))
        # Releases and acks carry the position before all of their kind (specification.md, "Records", Q).
        elif playing.position(record) not in (ledger.k, ledger.parallel[0]):
            await self.send(messages.refusal(Code.STALE_POSITION, "too late", re=message.id))
        else:
            await self.accept(message)
            await self.go_on()

    async def accept(self, message: AnyAct) -> None:
        """Take what is handed in, and confirm it."""
        await self.take(self.record_of(message))
        await self.send(messages.Ok(re=message.id, k=len(self.records) - 1))

    def record_of(self, message: AnyAct) -> Record:
        """Return the record that was handed in, or that a guest's choice becomes."""
        if isinstance(message, messages.SignedAct):
            return Record(1, message.body, message.sig)
        return playing.written_choice(self.at_play(), self.dealer, message.choose)

    async def take(self, record: Record) -> None:
        """Add a record, after `forge` has changed it, and send it; a guest is sent the cards of a deal as well."""
        forged = self.forge(record)
        self.ledger, self.facts[len(self.records)] = playing.taken(self.at_play(), self.dealer, forged)
        self.records.append(forged)
        body = parse(forged)
        # What the call was held back for has come.
        if record.signer == 1 and isinstance(body, Rekey | Sub):
            self.is_call_held = self.is_away = False
        await self.send(self.message(len(self.records) - 1))
        self.goes_on()
        if isinstance(body, Deal) and self.is_guest and not self.is_watched:
            await self.send(self.own_cards(body))
        # After `end`, not after each ack: the state `over` comes once (play.md, "The end").
        if self.ledger.phase is Phase.ENDED and record.signer == 0:
            await self.send(self.state())

    def own_cards(self, deal: Deal) -> messages.OwnCards:
        """Return what the newest deal brings to a guest."""
        ledger, pack = self.at_play(), self.variant.pack
        cards = tuple(pack[opening.card] for opening in self.dealer.openings(ledger, 0))
        place = {"k": len(self.records) - 1, "j": deal.j, "d": deal.d}
        return messages.OwnCards(table=CODE, match=ledger.setup.mid, cards=cards, **place)

    def message(self, k: int) -> messages.MatchRecord:
        """Return a record as it is sent."""
        signer, body, sig = self.records[k]
        match = self.at_play().setup.mid
        return messages.MatchRecord(
            table=CODE, match=match, k=k, signer=signer, body=body, sig=sig, means=self.facts.get(k, ())
        )

    async def go_on(self) -> None:
        """Let everybody but the remote seat act while they can, then send that seat its options; or before each record, too."""
        while (record := self.other()) is not None:
            if self.tells_optional:
                await self.send_options()
            await self.take(record)
        await self.send_options()

    def other(self) -> Record | None:
        """Return the next record that is not the remote seat's, as far as the match has come."""
        if self.stop_at is not None and len(self.records) >= self.stop_at:
            return None
        return self.instead() or self.decided() or self.owed()

    def decided(self) -> Record | None:
        """Return the decision of a puppet, if one holds it."""
        ledger = self.at_play()
        if not playing.may_decide(ledger, self.players):
            return None
        return playing.decided(ledger, self.dealer, self.players, self.pick(ledger))

    def owed(self) -> Record | None:
        """Return what the server or a puppet owes the match."""
        ledger = self.at_play()
        record = None if self.is_held() else self.dealer.next_record(ledger)
        if record is not None or self.is_held():
            return record
        if due(ledger) is Due.REKEY:
            return self.fresh_chain()
        if ledger.phase is Phase.CALLED:
            return self.release()
        if ledger.phase is Phase.ENDED:
            owing = (player for seat, player in self.players.items() if seat not in ledger.acks)
            return next((player.ack(ledger) for player in owing), None)
        return self.dealer.move(ledger) if self.is_away and self.actions() else None

    def actions(self) -> tuple[Action, ...]:
        """Return what the remote seat may do; a client that watches may do nothing."""
        return () if self.is_watched else playing.open_actions(self.at_play())

    def fresh_chain(self) -> Record | None:
        """Return a rekey that is due from anybody but the remote seat."""
        ledger = self.at_play()
        if is_exhausted(ledger, 0):
            return self.dealer.rekey(ledger, secret(f"root {ledger.deal_index}", self.seed))
        exhausted = (player for seat, player in self.players.items() if is_exhausted(ledger, seat + 1))
        return next((player.rekey(ledger) for player in exhausted), None)

    def release(self) -> Record | None:
        """Return a release of anybody but the remote seat."""
        ledger = self.at_play()
        owing = (self.players[seat] for seat in seats_missing(ledger) if seat in self.players)
        return next((player.release(ledger) for player in owing), None)

    def is_held(self) -> bool:
        """Tell whether the next call waits for the remote seat's new chain."""
        return self.is_call_held and due(self.at_play()) is Due.CALL

    async def send_options(self) -> None:
        """Tell the remote seat what it may do, or that it is waited for."""
        ledger = self.at_play()
        if self.is_held() or (due(ledger) is Due.REKEY and is_exhausted(ledger, 1)):
            at, match = ledger.k, ledger.setup.mid
            await self.send(messages.Waiting(table=CODE, match=match, at=at, seats=(0,), what="rekey"))
        actions = self.actions()
        if actions:
            options = tuple(playing.option_of(ledger, self.dealer, action) for action in actions)
            await self.send(self.offered(options))

    def offered(self, options: tuple[Option, ...]) -> messages.OpenOptions | messages.BoxedOptions:
        """Return options as the remote seat is sent them, after `twist` has changed them, and remember what may be chosen."""
        ledger, twisted = self.at_play(), tuple(map(self.twist, options))
        at, match = ledger.k, ledger.setup.mid
        offer = max(0, at - 1) if self.offer is None else self.offer
        must = not playing.may_decide(ledger, self.players)
        self.offers[at] = tuple(option.line for option in twisted)
        if self.is_guest:
            return replace(open_options(match, at, offer, twisted), must=must)
        box = self.box(at, offer, twisted)
        self.boxed_lines[box] = self.offers[at]
        return messages.BoxedOptions(table=CODE, match=match, at=at, offer=offer, must=must, box=box)

    def box(self, at: int, offer: int, options: tuple[Option, ...]) -> bytes:
        """Seal options under a counter that keeps rising over all connections."""
        shared, match = self.dealer.shared(self.at_play(), 0), self.at_play().setup.mid
        if shared is None:
            raise RuntimeError("the remote seat has no box key")
        key = downward_key(shared, match, 0)
        return seal_options(key, match, seat=0, at=at, offer=offer, ctr=self.next_counter(), options=options)

    def next_counter(self) -> int:
        """Return the counter of the next box."""
        if self.one_counter:
            return counter(epoch=1, number=1)
        self.boxes += 1
        return counter(epoch=self.epoch, number=self.boxes)

    async def resume(self, message: messages.Resume) -> None:
        """Send what is missing, and go on, if there is such a match."""
        if self.setup is None or message.match != self.setup.match:
            await self.send(messages.refusal(Code.NO_SUCH_MATCH, "there is no such match", re=message.id))
            return
        await self.send_from(message.next, self.setup, message.id)

    async def send_from(self, first: int, setup: messages.Setup, request: int) -> None:
        """Send the match from a position on, from -1 with its setup, confirm a request for that, and go on."""
        if first < 0:
            await self.send(setup)
        for k in range(max(0, first), len(self.records)):
            await self.send(self.message(k))
        await self.send(messages.Ok(re=request, k=len(self.records)))
        # Nobody was to see more before the client came; now the match goes on.
        self.stop_at = None
        await self.go_on()
