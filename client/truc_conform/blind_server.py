"""A scripted server of tables whose host sees no card: the puppets deal with the client under test, at seat 0, and may cheat.

What the puppets do with the pack they find out as any seat does. The server holds no cards, and tells whom it waits for.
"""

from typing import TYPE_CHECKING

import trio
from msgspec.structs import replace

from truc_conform.client_harness import ClientHarness
from truc_conform.forging import note_cheat
from truc_conform.playing import CUT, quiet
from truc_conform.scenes import CLOSING_S
from truc_conform.scripted import FRENCH, PlayedGame
from truc_conform.shown import CODE
from truc_protocol import messages
from truc_protocol.acts import write_args
from truc_protocol.audit import OwnSeat
from truc_protocol.audit.own_seat import read_sealed
from truc_protocol.blind_mode.sealed_pack import SealedPack, SeatStep
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import CardWithKeys
from truc_protocol.errors import Code
from truc_protocol.ledger import Ledger, deciding_match, learn, sealed_pack, seats_unopened
from truc_protocol.ledger.state import owes_forfeit
from truc_protocol.own_steps import Duty, body_of_step, duty, garbled_body, make_step, secrets_of
from truc_protocol.records import BLIND, Phase, Record
from truc_protocol.wire.capabilities import BLIND_TABLES, OWN_OPTIONS
from truc_rules import CardError, Seat, deciders, legal

if TYPE_CHECKING:
    from collections.abc import Callable

    from truc_conform.blind_seat import StepCheat


class BlindHarness(ClientHarness):
    """One table of mode blind.

    Attributes:
        shown_mode, signed_mode: the mode that the table is shown in, and that of its terms.
        cheats: by seat what a puppet makes of its steps.
        silent: the puppets that take no step and open no link.
        passes_on: tells which record of a puppet is passed on though a check fails; nobody of the kit does anything more.
        deals_here: the client has named what a seat at such a table takes.
    """

    def __init__(self, game: PlayedGame = FRENCH, *, seed: int = 1) -> None:
        super().__init__(game, seed=seed)
        info = messages.decode_info(self.info)
        self.info = messages.encode_info(replace(info, caps={OWN_OPTIONS: True, BLIND_TABLES: True}))
        self.opts = self.opts._replace(guests=0)
        self.pick = lambda _ledger: quiet
        self.shown_mode = BLIND
        self.signed_mode = BLIND
        self.cheats: dict[int, StepCheat] = {}
        self.silent: frozenset[int] = frozenset()
        self.passes_on: Callable[[Record], bool] = lambda _record: False
        self.deals_here = False
        self._read: dict[int, tuple[SealedPack, tuple[CardWithKeys, ...] | None]] = {}

    def state(self) -> messages.TableState:
        """Return the state of the table, with its mode."""
        return replace(super().state(), mode=self.shown_mode)

    def owed(self) -> Record | None:
        """Return what the server or a puppet owes the match, and what a puppet decides."""
        ledger = self.at_play()
        # The draw, and what comes between hands, are as in mode dealt.
        if ledger.blind_hand is None:
            return super().owed()
        return self.puppets_step() or self.servers(ledger) or self.decide_of(ledger)

    def puppets_step(self) -> Record | None:
        """Return what a puppet owes of the pack."""
        ledger = self.at_play()
        for seat, player in self.players.items():
            wanted = None if seat in self.silent else duty(ledger, seat, is_garbled=self.is_garbled(seat))
            match wanted:
                case None:
                    continue
                case Duty.LINK:
                    return player.release(ledger)
                case Duty.GARBLED:
                    return player.sign(garbled_body(ledger, seat))
                case _:
                    return player.sign(body_of_step(ledger, self.step_of(seat, wanted)))
        return None

    def step_of(self, seat: int, wanted: Duty) -> SeatStep:
        """Return the step of a puppet, as its cheat leaves it."""
        ledger = self.at_play()
        hand = (self.hand(seat) or ()) if wanted is Duty.LEND else ()
        step = make_step(ledger, seat, self.secrets(seat), hand, wanted)
        return self.cheats[seat](step) if seat in self.cheats else step

    def secrets(self, seat: int) -> SeatSecrets:
        """Return what a puppet draws from its link."""
        chain = self.players[seat].chain
        if chain is None:
            raise RuntimeError("a puppet deals after it has joined")
        return secrets_of(self.at_play(), chain)

    def hand(self, seat: int) -> tuple[CardWithKeys, ...] | None:
        """Return what a puppet reads of its newest cards, once all keys are in; None if they are no hand of cards."""
        ledger, player = self.at_play(), self.players[seat]
        pack = sealed_pack(ledger)
        read_of, hand = self._read.get(seat, (None, ()))
        # Once for as long as nothing is done with the pack.
        if pack is not None and read_of is not pack:
            hand = read_sealed(ledger, OwnSeat(seat, player.x, player.chain)) if pack.is_keyed else ()
            self._read[seat] = pack, hand
        return hand

    def is_garbled(self, seat: int) -> bool:
        """Tell whether a puppet reads no hand of cards."""
        try:
            self.seen(seat)
        except CardError:
            return True
        return self.hand(seat) is None

    def seen(self, seat: int) -> Ledger:
        """Return the match with the cards of a puppet."""
        ledger, hand = self.at_play(), self.hand(seat)
        return (
            learn(ledger, seat, [held.card for held in hand]) if ledger.hand is not None and hand else ledger
        )

    def servers(self, ledger: Ledger) -> Record | None:
        """Return what the server writes next."""
        exposed = None if ledger.blind_hand is None else ledger.blind_hand.exposed
        is_ended = ledger.phase is Phase.OVER or exposed is not None
        # The client's link may still come, and what it opens is judged.
        if is_ended and 0 in seats_unopened(ledger):
            return None
        # Before the close of a won match, too (blind.md, "Records", Exposed).
        if exposed is not None and owes_forfeit(ledger):
            return self.dealer.forfeit(ledger, *exposed)
        return self.dealer.next_record(ledger)

    def decide_of(self, ledger: Ledger) -> Record | None:
        """Return the decision of a puppet that holds it."""
        match = deciding_match(ledger)
        if match is None:
            return None
        for seat in deciders(match):
            if seat in self.players:
                action = self.pick(ledger)([*legal(self.seen(seat).match or match, Seat(seat))])
                args = write_args(action, self.hand(seat) or (), cut=CUT)
                return self.players[seat].act(ledger, str(action.kind), args)
        return None

    async def answer_other(self, message: messages.ClientMessage) -> None:
        """Take signs, which the server cannot read."""
        if isinstance(message, messages.BoxedSign):
            await self.send(messages.Ok(re=message.id))
        else:
            await super().answer_other(message)

    async def send_options(self) -> None:
        """Tell whom the match waits for."""
        ledger = self.at_play()
        match, pack = deciding_match(ledger), sealed_pack(ledger)
        waiting = messages.Waiting(table=CODE, match=ledger.setup.mid, at=ledger.k, seats=())
        if match is not None and 0 in deciders(match):
            await self.send(replace(waiting, seats=tuple(deciders(match))))
        elif pack is not None and pack.owing():
            await self.send(replace(waiting, seats=pack.owing(), what=pack.stage.value))
        elif ledger.blind_hand is not None and seats_unopened(ledger) and match is None:
            await self.send(replace(waiting, seats=seats_unopened(ledger), what="opening"))

    async def greet(self, message: messages.ClientHello) -> None:
        """Prove who the server is, and keep what the client wants."""
        self.deals_here = {BLIND_TABLES, OWN_OPTIONS} <= set(message.want)
        await super().greet(message)

    async def seat(self, message: messages.Create | messages.Join) -> None:
        """Give the client the remote seat, if it deals."""
        if self.deals_here:
            await super().seat(message)
        else:
            await self._turn_away(message)

    async def resume(self, message: messages.Resume) -> None:
        """Let the client go on, if it deals."""
        if self.deals_here:
            await super().resume(message)
        else:
            await self._turn_away(message)

    async def _turn_away(self, message: messages.Create | messages.Join | messages.Resume) -> None:
        text = "here the seats deal: log in with a key, and name `blind` and `own-options` in `want`"
        await self.push(messages.refusal(Code.NOT_NOW, text, re=message.id))
        # It may come back and name them; nothing of these scenes can be tried with one that does not.
        self.nursery.start_soon(self._end_unless_it_deals, self.done)

    async def _end_unless_it_deals(self, done: trio.Event) -> None:
        await trio.sleep(CLOSING_S)
        if not self.deals_here:
            done.set()

    async def take(self, record: Record) -> None:
        """Add a record; one that is bad is passed on, and after it the puppets and the server do nothing."""
        if not self.passes_on(record):
            await super().take(record)
            return
        note_cheat(self, len(self.records))
        self.records.append(record)
        # What the client does next must come from the bad record alone.
        self.silent = frozenset(self.players)
        await self.send(self.message(len(self.records) - 1))

    def decided(self) -> Record | None:
        """Return the decision of a puppet between hands; in one that is up to `owed`: the cards are not the server's."""
        return super().decided() if self.at_play().blind_hand is None else None
