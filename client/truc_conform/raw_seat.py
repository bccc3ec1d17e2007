"""A player over a raw client: signs, audits every record, and picks its moves at random from the options.

Keyed or a guest, boxed or not. By itself it does only what keeps a match going; whatever a case wants to do wrong, the
case builds from `sign` and `act_message` and sends. Invariant: `play` itself never signs two bodies for one place, not
even over several connections.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from secrets import token_bytes
from typing import Final, TypeVar

from truc_conform.expectations import GoneError, Map, UnexpectedError, shown
from truc_conform.raw_client import PAIR, RawClient
from truc_protocol import boxes
from truc_protocol.audit import Auditor, OwnSeat, Result, Verdict
from truc_protocol.bodies import Ack, Act, AnyBody, Body, Rekey, Release, Resign, Rule, SeatTaken, Sub
from truc_protocol.crypto import keys
from truc_protocol.crypto.chains import Chain
from truc_protocol.ledger import Ledger, seats_missing
from truc_protocol.ledger.state import is_exhausted
from truc_protocol.own_steps import own_options
from truc_protocol.records import Phase, Record, encode, parse
from truc_protocol.setup import open_terms
from truc_protocol.wire.capabilities import OWN_OPTIONS

OVERTAKEN = ("stale_position", "void_bet")
_SHY = 0.9  # of the options that need no answer are left alone: most of them would prolong a match
_RASH = 0.1  # of the choices may end a game at once: otherwise matches would be over before much is tried
_LEADS_ON: Final = "stand"  # the kind that leads on to the cards where others may be agreed on
_ENDS: Final = ("concede", "decline", "raise")  # the kinds that may end a hand

_B = TypeVar("_B", bound=Body)
Pick = Callable[[Map, list[Map]], Map | None]


class RawSeat:
    """A player: keyed if `key`, boxed if `x`. `client` may be replaced after a lost connection.

    Attributes:
        next: the position that comes next.
        options, waiting, cards, partners: what was told last; `offered` has what the options hold.
        is_idle: it releases, acks and rekeys nothing by itself.
        stored: what was signed for a place; only that is sent again.
        joined: the `th` of the terms signed last, and the act that signed them.
        chooses: picks one of the options offered, or none.
        want: the capabilities that it named at its login, and names again when it comes back.
        knows_rules: it has said that it makes its own options, and is sent none.
        fresh: the chain and box key of a rekey or sub that is not a record yet.
    """

    def __init__(self, client: RawClient, *, seed: int = 1, keyed: bool = True, boxed: bool = True) -> None:
        self.client = client
        self.random = random.Random(seed)
        self.key = keys.generate_signing_key() if keyed else None
        # Only a guest may be without: then its cards and options come in clear (play.md, "At the table").
        self.x = keys.generate_box_key() if keyed or boxed else None
        self.name = f"seat{seed}"
        self.token = ""
        self.table = ""
        self.seat = -1
        self.next = 0
        self.records: list[Record] = []
        self.document = b""
        self.auditor: Auditor | None = None
        self.chain: Chain | None = None
        self.stored: dict[tuple[str, int], Map] = {}
        self.joined: tuple[bytes, Map] | None = None
        self.counter = boxes.NO_COUNTER
        self.options: Map | None = None
        self.offered: list[Map] = []
        self.is_idle = False
        self.waiting: Map | None = None
        self.cards: list[str] = []
        self.partners: dict[int, list[str]] = {}
        self.sent: Map | None = None
        self.chooses: Pick = self.pick
        self.want: tuple[str, ...] = ()
        self.knows_rules = False
        self.done = False
        self.fresh: tuple[Chain, keys.BoxKey] | None = None

    async def login(self, *, want: Sequence[str] = ()) -> Map:
        """Log in as a key or as a new guest, and return the answer."""
        if self.key is not None:
            welcome = await self.client.login_key(self.key, self.name, want=want)
        else:
            welcome = await self.client.login_guest(self.name, want=want)
            self.token = welcome.get("token", "")
        self.name = welcome.get("name", self.name)
        self.want = tuple(want)
        self.knows_rules = self.key is not None and OWN_OPTIONS in want
        return welcome

    async def come_back(self, client: RawClient, *, next_: int | None = None) -> Map:
        """Log in on another connection and resume; return the last reply."""
        self.client = client
        if self.key is not None:
            welcome = await client.login_key(self.key, self.name, want=self.want)
        else:
            welcome = await client.login_token(self.token)
        self.name = welcome.get("name", self.name)
        return await self.resume(next_)

    async def resume(self, next_: int | None = None) -> Map:
        """Resume from a position, by default the first that is missing."""
        if self.auditor is None:
            wanted = {"match": self.client.welcome["seats"][0]["match"], "next": -1}
        else:
            wanted = {"match": self.ledger.setup.mid, "next": self.next if next_ is None else next_}
        return await self.ask({"t": "resume", "table": self.table, **wanted})

    async def create(self, variant: str, **fields: object) -> str:
        """Open a table and return its code."""
        reply = await self.client.ask({"t": "create", "variant": variant, **fields})
        if reply["t"] != "ok":
            raise UnexpectedError(f"expected ok to create, got {reply}")
        self.table, self.seat = reply["table"], reply["seat"]
        return self.table

    async def open_table(
        self,
        options: Mapping[str, int | str] | None = None,
        *,
        private: bool = True,
        game: str | None = None,
        seats: int = PAIR,
    ) -> Map:
        """Ask for a table, of the kit's game or of another, and return the reply; whoever asks sits there."""
        wanted = {"variant": game or self.client.game(), "seats": seats, "private": private}
        reply = await self.client.ask_patiently({"t": "create", **wanted, "options": dict(options or {})})
        if reply["t"] == "ok":
            self.table, self.seat = reply.get("table", ""), reply.get("seat", -1)
        return reply

    @property
    def played(self) -> list[Record]:
        """The records of the match behind its setup."""
        return self.records[len(self.records) - self.next :]

    def bodies(self, kind: type[_B]) -> list[_B]:
        """Return the bodies of one kind in the match, in order."""
        return [body for body in bodies(self.records) if isinstance(body, kind)]

    def rulings(self) -> list[tuple[str, int | None, str | None]]:
        """Return what the server has ruled: each ruling with its seat and its kind."""
        return [(body.ruling, body.seat, body.kind) for body in self.bodies(Rule)]

    def proven(self) -> Verdict:
        """Return the verdict on the match, which must have ended and be proven by its records."""
        verdict = None if self.auditor is None else self.auditor.verdict()
        if verdict is None or verdict.result is not Result.PROVEN:
            raise UnexpectedError(f"expected a proven match, got {shown(verdict)}")
        return verdict

    async def join(self, table: str, seat: int | None = None) -> Map:
        """Take a seat and return the reply."""
        wanted = {} if seat is None else {"seat": seat}
        reply = await self.client.ask({"t": "join", "table": table, **wanted})
        if reply["t"] == "ok":
            self.table, self.seat = table, reply["seat"]
        return reply

    async def ready(self) -> Map:
        """Agree to start and return the reply."""
        x = {"x": self.x.public} if self.key is None and self.x is not None else {}
        return await self.ask({"t": "ready", "table": self.table, **x})

    async def ask(self, message: Map) -> Map:
        """Send a request and return its reply, reacting to what comes before it."""
        number = await self.client.send(message)
        while True:
            message = await self.client.receive()
            if message.get("re") == number:
                return message
            await self.react(message)

    @property
    def ledger(self) -> Ledger:
        """The match so far."""
        if self.auditor is None or self.auditor.ledger is None:
            raise UnexpectedError("expected the setup of a match before this, got none")
        return self.auditor.ledger

    def sign(self, body: Body) -> Map:
        """Sign a body, and return the act that hands it in."""
        if self.key is None:
            raise ValueError("a guest signs nothing")
        encoded = encode(body)
        match = None if isinstance(body, SeatTaken) else self.ledger.setup.mid
        return {
            "t": "act",
            "table": self.table,
            "match": match,
            "body": encoded,
            "sig": self.key.sign(encoded),
        }

    async def act(self, message: Map) -> None:
        """Send an act without waiting for its reply."""
        self.sent = message
        await self.client.send(message)

    async def play(self, until: "Callable[[RawSeat], object]" = lambda seat: seat.done) -> "RawSeat":
        """React to what comes until a condition holds, by default until the match has ended and is acked."""
        while not until(self):
            await self.react(await self.client.receive())
        return self

    async def react(self, message: Map) -> None:
        """Do what keeps the match going."""
        match message["t"]:
            case "terms":
                await self.sign_terms(message)
            case "setup":
                self.begin(message)
            case "record":
                await self.take(message)
            # play.md, "Own options": such a seat is sent none.
            case "options" if self.knows_rules:
                raise UnexpectedError(f"expected no options for a seat that makes its own, got {message}")
            case "options":
                self.options, self.offered = message, self.open(message)
                await self.choose(message)
            case "waiting" if self.knows_rules and message["match"] == self.ledger.setup.mid:
                self.note(message)
                await self.choose(self.find_options(message))
            case "ping":
                await self.client.send({"t": "pong", "n": message["n"]})
            case _:
                self.note(message)

    def note(self, message: Map) -> None:
        """Keep what was told.

        Raises:
            UnexpectedError: An error that a seat that plays soundly should never get.
            GoneError: The server says goodbye.
        """
        tag = message["t"]
        if tag == "waiting":
            self.waiting = message
        elif tag == "cards" and "of" in message:
            self.partners[message["of"]] = message["cards"]
        elif tag == "cards":
            self.cards = message["cards"]
        # A ruling may come before an act, which is nobody's fault.
        elif tag == "error" and message["code"] not in OVERTAKEN:
            came = f"{message['code']}: {message['msg']}"
            raise UnexpectedError(f"expected no error but {' or '.join(OVERTAKEN)} in play, got {came}")
        elif tag == "bye":
            raise GoneError(f"bye: {message}")

    async def sign_terms(self, message: Map) -> None:
        """Join the terms, if it has a key; the same terms are joined by the same record."""
        if self.key is None:
            return
        terms = open_terms(message["doc"], Record(*message["record"]))
        # session.md, "Coming back": another `seat` for the same terms is `terms_refused`.
        if self.joined is not None and self.joined[0] == terms.th:
            await self.act(self.joined[1])
            return
        # specification.md, "Setup": anchor and x are fresh for each table record.
        self.x = keys.generate_box_key()
        self.chain = Chain(self.key.public, terms.table.tn, token_bytes(32), first=0, count=terms.table.links)
        # The name of `welcome`, byte for byte (play.md, "Terms and setup").
        name = self.name.encode()
        body = SeatTaken(terms.th, self.seat, self.key.public, self.chain.anchor, self.x.public, name)
        self.joined = terms.th, self.sign(body)
        await self.act(self.joined[1])

    def begin(self, message: Map) -> None:
        """Start to audit a match from its setup."""
        self.document = message["doc"]
        self.records = [Record(*record) for record in message["records"]]
        self.auditor = Auditor(self.document, OwnSeat(self.seat, self.x, self.chain) if self.x else None)
        for record in self.records:
            self.auditor.feed(record)
        self.next, self.stored, self.counter, self.done = 0, {}, boxes.NO_COUNTER, False

    async def take(self, message: Map) -> None:
        """Audit a record, and sign what is due after it."""
        if message["k"] != self.next:
            raise UnexpectedError(f"expected the record at {self.next}, got the one at {message['k']}")
        if self.auditor is None:
            raise UnexpectedError("expected setup before the first record")
        record = Record(message["signer"], message["body"], message["sig"])
        self.records.append(record)
        self.auditor.feed(record)
        self.next += 1
        self.adopt_fresh_chain()
        await self.follow()
        if self.ledger.phase is Phase.ENDED:
            # A guest signs no ack.
            self.done = len(self.ledger.acks) == sum(c is not None for c in self.ledger.contributors[1:])

    async def follow(self) -> None:
        """Release, rekey and ack as soon as it is due."""
        ledger = self.ledger
        if self.key is None or self.chain is None or self.is_idle:
            return
        # specification.md, "Deals", New chains: between two hands, and not in a pause.
        may_rekey = ledger.phase is Phase.BETWEEN and not ledger.pause.active
        if may_rekey and is_exhausted(ledger, self.seat + 1):
            await self.sign_once("rekey", ledger.k, self.rekey())
        if self.seat in seats_missing(ledger):
            j = ledger.deal_index
            link = self.chain.link(j + 1)
            await self.sign_once(
                "release", j, Release(ledger.setup.mid, *ledger.parallel, j, self.seat, link)
            )
        if ledger.phase is Phase.ENDED and self.seat not in ledger.acks:
            await self.sign_once("ack", 0, Ack(ledger.setup.mid, *ledger.parallel, self.seat))

    def adopt_fresh_chain(self) -> None:
        """Go on with the fresh chain, once its record has come."""
        contributor = self.ledger.contributors[self.seat + 1]
        if self.fresh is not None and contributor is not None and contributor.x == self.fresh[1].public:
            (self.chain, self.x), self.fresh = self.fresh, None

    def draw_fresh_chain(self) -> tuple[Chain, keys.BoxKey]:
        """Draw a chain that begins at the next index, and a box key; they stay the same until a record has them."""
        if self.key is None or self.auditor is None:
            raise ValueError("only a key in a match has a chain")
        first, table = self.ledger.deal_index, self.ledger.setup.terms.table
        if self.fresh is None or self.fresh[0].first != first:
            chain = Chain(self.key.public, table.tn, token_bytes(32), first=first, count=table.links)
            self.fresh = chain, keys.generate_box_key()
            # Before the record is sent: what is boxed for it may follow at once.
            self.auditor.add_box_key(self.fresh[1], chain)
        return self.fresh

    def rekey(self) -> Rekey:
        """Return the record that starts a fresh chain."""
        ledger, (chain, x) = self.ledger, self.draw_fresh_chain()
        here = (ledger.setup.mid, ledger.k, ledger.head)
        return Rekey(*here, self.seat + 1, chain.first, chain.anchor, x.public)

    def sub(self, **fields: object) -> Sub:
        """Return the record that takes a seat over, with some of its fields replaced."""
        if self.key is None:
            raise ValueError("only a key takes a seat over")
        ledger, (chain, x) = self.ledger, self.draw_fresh_chain()
        given: Map = {"first": chain.first, "seat": self.seat, "pk": self.key.public, "anchor": chain.anchor}
        given |= {"x": x.public, "name": self.name.encode()} | fields
        return Sub(mid=ledger.setup.mid, k=ledger.k, head=ledger.head, **given)

    async def want_rekey(self) -> Map:
        """Ask for time to rekey."""
        return await self.ask({"t": "rekey", "table": self.table, "match": self.ledger.setup.mid})

    async def sign_once(self, what: str, place: int, body: Body) -> None:
        """Sign and send a body, unless that has been done."""
        if (what, place) not in self.stored:
            self.stored[what, place] = self.sign(body)
            await self.act(self.stored[what, place])

    async def send_again(self) -> None:
        """Send again what the server may have lost before it answered."""
        # The same bytes again are always safe (session.md, "Coming back").
        for message in list(self.stored.values())[-1:]:
            await self.act(message)

    def open(self, message: Map) -> list[Map]:
        """Return the options of a message, boxed or not, each as {key, kind, args}."""
        # specification.md, "What a client does": an option outside its box is refused.
        if "list" in message:
            if self.key is not None or self.x is not None:
                raise UnexpectedError(
                    "expected options in a box for a seat with a key or x, got them in clear"
                )
            return list(message["list"])
        if self.x is None:
            raise UnexpectedError("expected options in clear for a guest without x, got a box")
        mid = self.ledger.setup.mid
        shared = self.x.exchange(self.ledger.setup.terms.table.x)
        opened = boxes.open_options(
            boxes.downward_key(shared, mid, self.seat),
            mid,
            seat=self.seat,
            at=message["at"],
            offer=message["offer"],
            box=message["box"],
            after=self.counter,
        )
        self.counter = opened.counter
        return list(map(_as_map, opened.options))

    def find_options(self, waiting: Map) -> Map:
        """Find out by the rules what may be done while the match waits for these seats; return it as `options` would.

        Nothing while it waits for anything but a decision, or where no hand of cards can be read.
        """
        auditor, awaited = self.auditor, waiting["seats"]
        is_asked = waiting.get("what", "decision") == "decision"
        made: tuple[boxes.Option, ...] = ()
        if is_asked and auditor is not None and auditor.seen is not None and not auditor.is_garbled:
            made = own_options(auditor.seen, self.seat, auditor.openings, awaited)
        self.options = {**waiting, "must": is_asked and self.seat in awaited}
        self.offered = list(map(_as_map, made))
        return self.options

    def pick(self, message: Map, options: list[Map]) -> Map | None:
        """Pick an option at random; rarely one that may end a game, and rarely any if none need be chosen."""
        # play.md, "Decisions": what hangs on a hidden flor is only hinted at.
        awaited = message["must"] or any("waits" in option["hints"] for option in options)
        if not awaited and self.random.random() < _SHY:
            return None
        quiet = [o for o in options if not is_rash(o) or self.random.random() < _RASH]
        return self.random.choice(quiet or options)

    async def choose(self, message: Map) -> None:
        """Choose one of the options offered, the same one if they are offered again; there may be none."""
        picked = self.chooses(message, self.offered) if self.offered else None
        if picked is not None:
            # By its position: it is offered again after a lost
            # connection, and a second body would convict (C34).
            place = ("act", message["at"])
            self.stored.setdefault(place, self.act_message(message, picked))
            await self.act(self.stored[place])

    def act_message(self, message: Map, option: Map) -> Map:
        """Return the act that chooses an option."""
        if self.key is None:
            return {**self.here(message["at"]), "choose": option["key"]}
        return self.sign(self.act_of(option))

    def here(self, at: int) -> Map:
        """Return a guest's act at a position, without the choice."""
        return {"t": "act", "table": self.table, "match": self.ledger.setup.mid, "at": at}

    def act_of(self, option: Map, **changed: object) -> Act:
        """Return the body that chooses an option now, with some of its fields replaced."""
        ledger = self.ledger
        sound: Map = {"mid": ledger.setup.mid, "k": ledger.k, "head": ledger.head, "j": ledger.deal_index}
        sound |= {"seat": self.seat, "kind": option["kind"], "args": tuple(option.get("args", ()))}
        return Act(**{**sound, **changed})

    def harmless(self) -> Map:
        """Return an option offered that ends nothing; if there is one that leads on to the cards, that one."""
        ordered = sorted(self.offered, key=lambda option: option["kind"] != _LEADS_ON)
        return next((option for option in ordered if option["kind"] not in _ENDS), ordered[0])

    async def hand_in(self, body: Body, **fields: object) -> Map:
        """Hand a body in and return the reply."""
        return await self.ask(self.sign(body) | fields)

    async def move(self, **fields: object) -> Map:
        """Choose an option that ends nothing, and return the reply."""
        return await self.hand_in(self.act_of(self.harmless()), **fields)

    async def choose_line(self, line: str, **fields: object) -> Map:
        """Choose as a guest and return the reply."""
        return await self.ask({**self.here(self.next), "choose": line, **fields})

    async def resign(self) -> None:
        """Give the match up."""
        ledger = self.ledger
        if self.key is None:
            await self.act({**self.here(self.next), "choose": "resign"})
        else:
            await self.act(self.sign(Resign(ledger.setup.mid, ledger.k, ledger.head, self.seat)))


def _as_map(option: boxes.Option) -> Map:
    return {"key": option.line, "kind": option.kind, "args": option.args, "hints": dict(option.hints)}


def is_rash(option: Map) -> bool:
    """Tell whether an option may end a game at once."""
    return option["kind"] == "concede" or str(option["key"]).endswith("rest")


def bodies(records: list[Record]) -> list[AnyBody]:
    """Return the bodies of records."""
    return [parse(record) for record in records]
