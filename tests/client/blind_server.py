"""A scripted server of tables whose host sees no card: puppets deal with the client under test, at seat 0.

What the puppets do with the pack they find out as any seat does; `cheats` changes it by seat, and seats in `silent` take no
step and open no link. The server holds no cards, and tells whom it waits for.
"""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from truc_conform.playing import QUIET
from truc_conform.scripted import ScriptedServer
from truc_conform.shown import CODE, INFO
from truc_protocol import messages
from truc_protocol.acts import write_args
from truc_protocol.blind_mode.sealed_pack import SealedPack, SeatStep, Stage
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import CardWithKeys, GarbledError, read_hand
from truc_protocol.checks import CheckError
from truc_protocol.dealer import Dealer
from truc_protocol.ledger import Ledger, deciding, learn, sealed_pack, unopened
from truc_protocol.ledger.state import owes_forfeit
from truc_protocol.match_secrets import MatchSecrets
from truc_protocol.own_steps import Duty, body_of_step, duty, garbled_body, make_step, secrets_of
from truc_protocol.records import BLIND, Phase, Record
from truc_protocol.wire.capabilities import BLIND_TABLES, OWN_OPTIONS
from truc_rules import Action, CardError, Seat, deciders, legal

Cheat = Callable[[Ledger, SealedPack, SeatStep], SeatStep]
"""What a seat makes of the step that it should take."""


class BlindServer(ScriptedServer):
    """One table of mode blind."""

    def __init__(self, variant: str = "truc-french", **options: Any) -> None:
        super().__init__(variant, **options)
        self.info = messages.encode_info(replace(INFO, caps={OWN_OPTIONS: True, BLIND_TABLES: True}))
        self.opts = self.opts._replace(guests=0)
        self.shown_mode = BLIND
        self.signed_mode = BLIND
        self.cheats: dict[int, Cheat] = {}
        self.silent: frozenset[int] = frozenset()
        self.choose: Callable[[list[Action]], Action] = quiet

    def state(self) -> messages.TableState:
        return replace(super().state(), mode=self.shown_mode)

    def make_terms(self) -> Record:
        super().make_terms()
        secrets = self.dealer.secrets
        self.dealer = Dealer(self.key, MatchSecrets(secrets.root, secrets.x, secrets.tn), links=self.links)
        terms = self.dealer.terms(
            self.variant,
            seats=self.seats,
            opts=self.opts,
            name="a server",
            opened=1_700_000_000,
            mode=self.signed_mode,
        )
        self.terms = messages.Terms(table=CODE, record=terms.record, doc=self.document)
        return terms.record

    def other(self) -> Record | None:
        ledger = self.at_play()
        if ledger.sealed is None:
            return super().other()
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
        ledger = self.at_play()
        pack = sealed_pack(ledger)
        assert pack is not None
        hand = self.hand(seat) if wanted is Duty.LEND else ()
        step = make_step(ledger, seat, self.secrets(seat), hand, wanted)
        return self.cheats[seat](ledger, pack, step) if seat in self.cheats else step

    def secrets(self, seat: int) -> SeatSecrets:
        chain = self.players[seat].chain
        assert chain is not None
        return secrets_of(self.at_play(), chain)

    def hand(self, seat: int) -> tuple[CardWithKeys, ...]:
        """What a puppet reads of its newest cards."""
        pack = sealed_pack(self.at_play())
        assert pack is not None
        return read_hand(pack, self.secrets(seat), seat, self.players[seat].x)

    def is_garbled(self, seat: int) -> bool:
        pack = sealed_pack(self.at_play())
        if pack is None or pack.stage is not Stage.READY or pack.plan.unseen:
            return False
        try:
            self.seen(seat)
        except (GarbledError, CheckError, CardError):
            return True
        return False

    def seen(self, seat: int) -> Ledger:
        """The match with the cards of a puppet."""
        ledger = self.at_play()
        pack = sealed_pack(ledger)
        if ledger.hand is None or pack is None or pack.plan.unseen:
            return ledger
        return learn(ledger, seat, [held.card for held in self.hand(seat)])

    def servers(self, ledger: Ledger) -> Record | None:
        """Return what the server writes next."""
        sealed = ledger.sealed
        assert sealed is not None
        is_ended = ledger.phase is Phase.OVER or sealed.exposed is not None
        if is_ended and 0 in unopened(ledger):
            return None
        if sealed.exposed is not None and owes_forfeit(ledger):
            return self.dealer.forfeit(ledger, *sealed.exposed)
        return self.dealer.next_record(ledger)

    def decide_of(self, ledger: Ledger) -> Record | None:
        """Return the decision of a puppet that holds it."""
        match = deciding(ledger)
        if match is None:
            return None
        for seat in deciders(match):
            if seat in self.players:
                seen = self.seen(seat)
                assert seen.match is not None
                action = self.choose([*legal(seen.match, Seat(seat))])
                held = () if ledger.hand is None or ledger.sealed.pack.plan.unseen else self.hand(seat)
                return self.players[seat].act(ledger, str(action.kind), write_args(action, held, cut=7))
        return None

    async def answer_other(self, message: messages.ClientMessage) -> None:
        if isinstance(message, messages.BoxedSign):
            await self.send(messages.Ok(re=message.id))

    async def send_options(self) -> None:
        """Tell whom the match waits for."""
        ledger = self.at_play()
        match, pack = deciding(ledger), sealed_pack(ledger)
        here = {"table": CODE, "match": ledger.setup.mid, "at": ledger.k}
        if match is not None and 0 in deciders(match):
            await self.send(messages.Waiting(**here, seats=tuple(deciders(match))))
        elif pack is not None and pack.owing():
            await self.send(messages.Waiting(**here, seats=pack.owing(), what=pack.stage.value))
        elif ledger.sealed is not None and unopened(ledger) and match is None:
            await self.send(messages.Waiting(**here, seats=unopened(ledger), what="opening"))


def giving_up(actions: list[Action]) -> Action:
    """Let the other side of seat 0 decline what it asks for, so that it is at its last point soon."""
    declining = (each for each in actions if each.kind == "decline" and each.seat % 2)
    return next(declining, quiet(actions))


def quiet(actions: list[Action]) -> Action:
    """Pick the action that keeps the match going."""
    return min(actions, key=lambda each: QUIET.index(each.kind) if each.kind in QUIET else len(QUIET))
