"""Players who come back by themselves after every loss, and who hold the server to whatever they have heard from it.

What a server has sent is what it has stored: of every match each of them compares all that it was ever shown with the
database, when the match is over, and with every later replay. Invariant: nothing is signed twice differently for one
place, and whatever the protocol does not explain by a server that was ended raises ViolationError.
"""

import random
from collections.abc import Callable
from typing import Final, Literal, TypeVar

import trio
from chaos.parties import Game, Party
from chaos.servers import ServerProcess
from chaos.stored import ViolationError, stored_chat, stored_records, unfinished
from server.rawclient import GoneError, Map, RawClient, RawSeat

from truc_protocol.audit import Result, Verdict
from truc_protocol.bodies import Call, Proxy, Rekey, Resign
from truc_protocol.ledger import Ledger, is_exhausted
from truc_protocol.records import Phase, Record, parse

PATIENCE_S: Final = 45.0  # without a word on a connection that stands: longer than any ping takes
KEPT_LINES: Final = 50
LOSSES: Final = (GoneError, OSError, trio.BrokenResourceError, trio.ClosedResourceError)
_ERRORS: Final = ("stale_position", "void_bet")
_REPLAY: Final = 0.3  # of the returns ask for records that are there already
_ACKNOWLEDGED: Final = {"act": "acts", "chat": "lines", "ready": "agreements", "rekey": "wishes"}
_TALK: Final = 0.05
_FIRST_WISH: Final = 0.02  # of the records make somebody ask for a pause
_FOR_TIME: Final = 0.02  # of them make somebody ask for time to begin a new chain
_AGREES: Final = 0.5  # of them, once another has asked
_ENDS: Final = 0.8  # of those of a pause make somebody ask for its end; else its time must end it
_TALK_S: Final = 2.0

Found = TypeVar("Found")


async def reach(server: ServerProcess) -> RawClient:
    """Return a connection to a server that may be down for now."""
    while True:
        await server.listens.wait()
        try:
            return RawClient(await server.connect(), patience_s=PATIENCE_S)
        except OSError:
            await trio.sleep(0.01)


class Survivor(RawSeat):
    """A seat that plays its party's matches, whatever becomes of the server.

    Attributes:
        losses: what ends a connection and is no fault.
    """

    losses: tuple[type[Exception], ...] = LOSSES

    def __init__(self, client: RawClient, party: Party, game: Game, seat: int, *, seed: int) -> None:
        super().__init__(client, seed=seed, **({"keyed": False} if seat in game.guests else {}))
        self.seat = seat
        self.party = party
        self.matches_played = 0
        self._game = game
        self._whims = random.Random(f"whims {seed}")
        self._for_time = random.Random(f"time {seed}")
        self._has_asked = self._has_time = False
        self._spk = b""
        self._pending: dict[int, Map] = {}
        self._lines: dict[int, str] = {}
        self._talked = 0.0
        self._is_seated = self._is_leaving = self._is_arriving = False

    def __str__(self) -> str:
        place = "no match" if self.auditor is None else f"match {self.mid.hex()[:8]} at {self.next}"
        asked = [message["t"] for message in self._pending.values()]
        return f"{self.name} at table {self.table}: {place}, {self.matches_played} of {self.party.goal} played, {asked}"

    async def live(self) -> None:
        """Play to the end, on as many connections as it takes."""
        while True:
            try:
                await self._visit()
            except self.losses:
                self.party.tally.count(losses=1)
            else:
                return
            finally:
                await trio.aclose_forcefully(self.client.stream)
            self.client = await self._reach()

    async def _reach(self) -> RawClient:
        return await reach(self.party.server)

    @property
    def _is_out(self) -> bool:
        """Whether it is no fault to have no seat any more."""
        return self._is_leaving

    async def _visit(self) -> None:
        self._pending = {}
        self._is_arriving = False
        welcome = await self._enter()
        held = [seat for seat in welcome.get("seats", ()) if self.table in ("", seat["table"])]
        if self._is_out and not held:
            return
        if self._is_seated and not held:
            self._miss_seat(welcome)
        await self._sit(held)
        await self.play(until=lambda _: self.matches_played >= self.party.goal)
        await self._leave()

    def _miss_seat(self, welcome: Map) -> None:
        """Say that a seat is gone that was acknowledged."""
        raise ViolationError(f"{self.name} has lost its seat at table {self.table}: {welcome}")

    async def _enter(self) -> Map:
        """Log in: as the same key, or as the same guest, whom the server may have forgotten before a seat was acknowledged."""
        welcome = await (self.client.login_token(self.token) if self.token else self.login())
        if welcome.get("code") == "bad_token" and not self._is_seated:
            self.token = ""
            raise GoneError("the guest went with the server that let them in")
        if welcome["t"] != "welcome":
            raise ViolationError(f"{self.name} was not let in: {welcome}")
        if self._spk not in (b"", self.client.spk):
            raise ViolationError("the server has another key than before")
        self._spk = self.client.spk
        return welcome

    async def _sit(self, held: list[Map]) -> None:
        if not self.table:
            self.table = await self._find_table(held)
        if self._is_under_way and held and held[0].get("match") == self.mid and self._whims.random() < 0.5:
            await self._resume(self.mid)
            return
        self._is_arriving = True
        reply = await self.ask({"t": "join", "table": self.table, "seat": self.seat})
        if reply["t"] != "ok":
            raise ViolationError(f"{self.name} has no seat at table {self.table}: {reply}")
        self._is_seated = True

    async def _find_table(self, held: list[Map]) -> str:
        """Return the code of the party's table; the first player makes it, and may not have heard that it was made."""
        party = self.party
        if self.seat == 0 and not party.made.is_set():
            reply = held[0] if held else await self.ask(self._game.create())
            if reply["t" if not held else "table"] not in ("ok", reply.get("table")):
                raise ViolationError(f"no table could be made: {reply}")
            party.code = reply["table"]
            party.made.set()
        await party.made.wait()
        return party.code

    @property
    def mid(self) -> bytes:
        """The match that this seat was in last."""
        return self.ledger.setup.mid

    @property
    def _is_under_way(self) -> bool:
        return self.auditor is not None and not self.done

    async def _resume(self, mid: bytes) -> None:
        """Come back to a match, now and then to a place before the first that is missing."""
        next_ = self.next if self.auditor is not None and mid == self.mid else -1
        if next_ > 0 and self._whims.random() < _REPLAY:
            next_ = self._whims.randrange(-1, next_)
            self.party.tally.count(replays=1)
        reply = await self.ask({"t": "resume", "table": self.table, "match": mid, "next": next_})
        if reply["t"] != "ok" or reply["k"] != self.next:
            raise ViolationError(f"{self.name} expected all records to {self.next}, got {reply}")
        await self.send_again()

    async def _leave(self) -> None:
        self._is_leaving = True
        reply = await self.ask({"t": "leave", "table": self.table})
        if reply["t"] != "ok":
            raise ViolationError(f"{self.name} cannot leave: {reply}")

    async def act(self, message: Map) -> None:
        """Send an act, and keep what it was until its reply."""
        self.sent = message
        await self._post(message)

    async def _post(self, message: Map) -> None:
        self._pending[await self.client.send(message)] = message

    async def react(self, message: Map) -> None:
        """Do what keeps the matches going."""
        if message["t"] == "table":
            await self._look(message)
        elif message["t"] == "setup" and self.auditor is not None and message["match"] == self.mid:
            setup = [Record(*record) for record in message["records"]]
            self._compare(list(self.ledger.setup.records), setup)
        else:
            await super().react(message)
        if message["t"] == "waiting" and message.get("what") == "rekey" and self.seat in message["seats"]:
            await self._end_hold(message["at"])

    async def _end_hold(self, at: int) -> None:
        """Begin the new chain that a call is held back for; nobody else is waited for, however often the server was killed."""
        if at == self.next and not (self._has_asked or is_exhausted(self.ledger, self.seat + 1)):
            raise ViolationError(f"the call is held back for {self.name}, who has not asked for it")
        if self.key is not None and at == self.next and not self._has_signed_at(at):
            await self.sign_once("rekey", at, self.rekey())

    def _has_signed_at(self, k: int) -> bool:
        return not {("act", k), ("rekey", k)}.isdisjoint(self.stored)

    async def _look(self, table: Map) -> None:
        """See the table's state: what came with the seat, or what has changed since."""
        is_arriving, self._is_arriving = self._is_arriving, False
        if is_arriving and table["state"] == "playing":
            await self._resume(table["match"])
        elif is_arriving and self._is_under_way:
            await self._resume(self.mid)
        elif table["state"] in ("open", "over") and not table["seats"][self.seat].get("ready"):
            await self._agree()

    async def _agree(self) -> None:
        """Say ready, unless a match is not over for this seat, or it has been said."""
        asked = any(message["t"] == "ready" for message in self._pending.values())
        if self._is_under_way or asked or self.matches_played >= self.party.goal:
            return
        self.party.begun = max(self.party.begun, self.matches_played + 1)
        x = {"x": self.x.public} if self.key is None and self.x is not None else {}
        await self._post({"t": "ready", "table": self.table, **x})

    def begin(self, message: Map) -> None:
        """Start to audit a match."""
        if self._is_under_way:
            raise ViolationError(f"{self.name} was shown another match before the end of its own")
        self.fresh = None
        self._has_asked = self._has_time = False
        super().begin(message)

    async def take(self, message: Map) -> None:
        """Take a record that is new; one that is not must be what it was."""
        k = message["k"]
        if k < self.next:
            again = Record(message["signer"], message["body"], message["sig"])
            self._compare(self.played[k : k + 1], [again])
            return
        await super().take(message)
        self._check_time()
        if self.ledger.phase is Phase.ENDED:
            self.party.note_end(self.mid)
        if self.done:
            await (
                self._finish()
            )  # before anything is sent: a lost connection must not lose the count of a match
        await self._use_the_moment()
        if self.done:
            await self._agree()

    def _check_time(self) -> None:
        """Check that no hand is called before a new chain for which the server has promised time."""
        body = parse(self.records[-1])
        if isinstance(body, Rekey) and body.role == self.seat + 1:
            self._has_time = False
        if isinstance(body, Call) and self._has_time:
            raise ViolationError(f"{self.name} was promised time before the call at {body.k}")

    async def _use_the_moment(self) -> None:
        """Do what nobody is waited for."""
        await self._chat()
        await self._ask_for_time()
        kind = wish(self.ledger, self.seat, self._whims)
        if kind is not None and not self._has_signed_at(self.next):
            asked = self.act_message({"at": self.next}, {"key": kind, "kind": kind, "args": ()})
            self.stored["act", self.next] = asked
            await self.act(asked)

    async def _ask_for_time(self) -> None:
        # where somebody leaves, what is waited for ends soon
        if self.key is None or self.done or self._game.is_left or self._for_time.random() >= _FOR_TIME:
            return
        self._has_asked = True
        await self._post({"t": "rekey", "table": self.table, "match": self.mid})

    async def _chat(self) -> None:
        now = trio.current_time()
        if self._whims.random() < _TALK and now - self._talked > _TALK_S:
            self._talked = now
            text = f"{self.name} at {self.next}, {self._whims.random()}"
            await self._post({"t": "chat", "table": self.table, "text": text})

    def note(self, message: Map) -> None:
        """Hold the server to its replies and to the lines of the chat."""
        match message["t"]:
            case "ok":
                self._confirm(self._pending.pop(message["re"]), message)
            case "error":
                self._refused(self._pending.pop(message.get("re", -1), {}), message)
            case "chat":
                if self._lines.setdefault(message["n"], message["text"]) != message["text"]:
                    raise ViolationError(f"line {message['n']} of the chat has changed: {message}")
            case "bye" if message["code"] != "shutting_down":
                raise ViolationError(f"{self.name} was sent away: {message}")
            case _:
                super().note(message)

    def _confirm(self, sent: Map, reply: Map) -> None:
        """Check that what is acknowledged was published before."""
        self.party.tally.count(**{_ACKNOWLEDGED[sent["t"]]: 1})
        self._has_time |= sent["t"] == "rekey"
        if sent["t"] == "chat" and sent["text"] not in self._lines.values():
            raise ViolationError(f"a line was acknowledged and not told: {sent}")
        if sent["t"] != "act" or sent["match"] is None:
            return
        record = self.played[reply["k"]]
        body = parse(record)
        is_own = isinstance(body, Proxy | Resign) and body.seat == self.seat and body.k == sent.get("at")
        if not (is_own if "choose" in sent else record.body == sent["body"]):
            raise ViolationError(f"{sent} was acknowledged by {reply}, but there stands {body}")

    def _refused(self, sent: Map, error: Map) -> None:
        if error["code"] in _ERRORS:
            return
        if error["code"] == "terms_refused" and sent.get("match", b"") is None:
            return  # the terms have gone with the server that sent them
        if error["code"] == "rate_limited" and sent.get("t") == "chat":
            return  # all of one network may say only so much
        if error["code"] == "not_now" and sent.get("t") == "rekey":
            return  # the match was over before it came
        if error["code"] == "no_such_match" and sent["match"] not in unfinished(self.party.data):
            return  # sent again, and its match has given its place to the next one
        raise ViolationError(f"{self.name} was refused: {error} to {sent}")

    async def _read(self, stored: Callable[..., Found], what: bytes | str) -> Found:
        """Return what is stored of a match or a table."""
        return stored(self.party.data, what)

    async def _finish(self) -> None:
        """Compare a match that is over with what is stored of it, and give the verdict."""
        self.matches_played += 1
        self._compare(self.played, await self._read(stored_records, self.mid))
        self._check_chat(await self._read(stored_chat, self.table))
        verdict = self.auditor.verdict()
        check_verdict(verdict, is_left=self._game.is_left)
        self.party.tally.count(audits=1)
        if self.seat == 0:
            pauses = [ruling for ruling, _, _ in self.rulings()].count("pause")
            told = {"records": verdict.records, "rekeys": len(verdict.rekeys), "pauses": pauses}
            self.party.tally.count(matches=1, substitutes=len(verdict.substitutes), **told)

    def _compare(self, heard: list[Record], shown: list[Record]) -> None:
        if heard != shown:
            n = next(
                (n for n, pair in enumerate(zip(heard, shown, strict=False)) if len(set(pair)) > 1), None
            )
            raise ViolationError(
                f"{self.name}, table {self.table}, match {self.mid.hex()}: "
                f"heard {len(heard)} records, found {len(shown)}, the first difference at {n}"
            )

    def _check_chat(self, stored: dict[int, str]) -> None:
        newest = max(stored, default=-1)
        for n, text in self._lines.items():
            if n > newest - KEPT_LINES and stored.get(n) != text:
                raise ViolationError(f"line {n} of table {self.table} was told and is not stored: {text}")
        self._lines = {n: text for n, text in self._lines.items() if n > newest - KEPT_LINES}


def check_verdict(verdict: Verdict, *, is_left: bool = False) -> None:
    """Check that a match that is over is proven; unless a player has left it, that nothing was ruled but pauses."""
    reasons = ("won", "resigned", *(("forfeit", "abandoned") if is_left else ()))
    if verdict.result is not Result.PROVEN or verdict.reason not in reasons:
        raise ViolationError(f"expected a match proven and won, got {verdict}")
    ruled = [rule for _, rule in verdict.rulings if rule.ruling not in ("pause", "resume")]
    if (ruled or verdict.voids) and not is_left:
        raise ViolationError(f"a ruling against somebody while the server was down: {verdict}")


def wish(ledger: Ledger, seat: int, whims: random.Random) -> Literal["pause", "resume"] | None:
    """Return what a seat asks for after the newest record, where it may (specification, section 9)."""
    pause = ledger.pause
    if ledger.phase not in (Phase.BETWEEN, Phase.HAND) or ledger.match is None or seat in pause.asked:
        return None
    if pause.active:
        return "resume" if whims.random() < _ENDS else None
    likely = _AGREES if pause.asked else _FIRST_WISH
    return "pause" if seat not in pause.spent and whims.random() < likely else None
