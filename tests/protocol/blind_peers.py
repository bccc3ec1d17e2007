"""A match of mode blind in memory: the seats of `peers`, who shuffle, seal and open the pack among themselves."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from protocol.peers import Table, here

from truc_protocol.acts import write_args
from truc_protocol.blind_mode.sealed_pack import PackStage, SeatStep
from truc_protocol.blind_mode.seat_secrets import SeatSecrets
from truc_protocol.blind_mode.seat_steps import CardWithKeys, GarbledError, make_lend, read_hand
from truc_protocol.bodies import Body, Void
from truc_protocol.checks import CheckError
from truc_protocol.ledger import Ledger, learn, next_share, sealed_pack, seats_unopened
from truc_protocol.ledger.blind_records import seats_owing
from truc_protocol.ledger.state import owes_forfeit
from truc_protocol.own_steps import body_of_step, duty, garbled_body, make_step, secrets_of
from truc_protocol.records import BLIND, Phase, Record
from truc_rules import Action, Seat, is_hand_over, legal

Cheat = Callable[["BlindTable", SeatStep], SeatStep]
"""What a seat makes of the step that it should take."""
NO_CHEATS: Mapping[int, Cheat] = MappingProxyType({})


class BlindTable(Table):
    """A match in memory whose server sees no card.

    Seats in `silent` take no step with the pack and open no link; those in `cheats` take others than they should.
    """

    def __init__(
        self, variant: Any = "truc-french", *, cheats: Mapping[int, Cheat] = NO_CHEATS, **table: Any
    ) -> None:
        super().__init__(variant, mode=BLIND, **table)
        self.cheats = cheats
        self._hands: dict[tuple[int, int, int], tuple[CardWithKeys, ...]] = {}

    def secrets(self, seat: int) -> SeatSecrets:
        """A seat's secrets of the open index."""
        chain = self.players[seat].chain
        assert chain is not None
        return secrets_of(self.ledger, chain)

    def hand(self, seat: int) -> tuple[CardWithKeys, ...]:
        """What a seat reads of its newest cards."""
        pack = sealed_pack(self.ledger)
        assert pack is not None
        place = (pack.plan.j, pack.d, seat)
        if place not in self._hands:
            self._hands[place] = read_hand(pack, self.secrets(seat), seat, self.players[seat].x)
        return self._hands[place]

    def is_unseen(self) -> bool:
        return self.ledger.blind_hand is not None and self.ledger.blind_hand.pack.plan.unseen

    def actions(self, seat: int) -> tuple[Action, ...]:
        """Return what a seat may do now, knowing its own cards."""
        ledger = self.ledger
        if ledger.hand is not None and not self.is_unseen():
            ledger = learn(ledger, seat, [held.card for held in self.hand(seat)])
        assert ledger.match is not None
        return legal(ledger.match, Seat(seat))

    def record_of(self, action: Action) -> Record:
        seen = self.ledger.hand is not None and not self.is_unseen()
        openings = self.hand(action.seat) if seen else ()
        cut = self.random.randrange(1, self.terms.table.deck)
        return self.act(action.seat, str(action.kind), write_args(action, openings, cut=cut))

    def next_record(self) -> Record | None:
        record = self._sealed() if self.ledger.blind_hand is not None else None
        return super().next_record() if record is None else record

    def _sealed(self) -> Record | None:
        """Return what is due of a hand that the seats seal and open; None where the rules, or the server, go on."""
        ledger, blind, pack = self.ledger, self.ledger.blind_hand, sealed_pack(self.ledger)
        assert blind is not None
        assert pack is not None
        if blind.exposed is not None and owes_forfeit(ledger):
            return self._exposed(blind.exposed)
        is_over = ledger.match is not None and ledger.hand is not None and is_hand_over(ledger.match)
        if blind.garbled or is_over or ledger.phase is Phase.OVER:
            ready = [seat for seat in seats_unopened(ledger) if seat not in self.silent]
            return self.players[ready[0]].release(ledger) if ready else self._overdue()
        if pack.stage is not PackStage.READY:
            ready = [seat for seat in pack.owing() if seat not in self.silent]
            return self.step_of(ready[0]) if ready else self._overdue()
        claim = None if self.is_unseen() else self._claim()
        if claim is None and ledger.hand is not None and (owed := next_share(ledger)) is not None:
            return self.lend(*owed)
        return claim

    def _exposed(self, exposed: tuple[int, str]) -> Record:
        return self.dealer.forfeit(self.ledger, *exposed)

    def _overdue(self) -> Record | None:
        """Return what follows where seats do not do what is due: a void, a forfeit, or the end without a winner."""
        owing = seats_owing(self.ledger)
        if self.ledger.phase is Phase.OVER or not (owing or self.ledger.phase is Phase.CALLED):
            return None
        if not owing:
            return self.dealer.void(self.ledger)
        if len({seat % 2 for seat in owing}) == 2:
            return self.dealer.abandon(self.ledger, "empty")
        return self.dealer.forfeit(self.ledger, min(owing), "opening")

    def _claim(self) -> Record | None:
        """Let the first seat say so whose hand is garbled, or that was given a key which does not fit."""
        pack = sealed_pack(self.ledger)
        assert pack is not None
        for seat in range(self.ledger.seats):
            try:
                self.hand(seat)
            except (GarbledError, CheckError):
                return self.players[seat].sign(garbled_body(self.ledger, seat))
        return None

    def step_of(self, seat: int) -> Record:
        """Return the step with the pack that a seat owes."""
        wanted = duty(self.ledger, seat)
        assert wanted is not None
        step = make_step(self.ledger, seat, self.secrets(seat), (), wanted)
        if seat in self.cheats:
            step = self.cheats[seat](self, step)
        return self.players[seat].sign(self.body_of(step))

    def body_of(self, step: SeatStep) -> Body:
        """Return the body of a step, in its place."""
        return body_of_step(self.ledger, step)

    def lend(self, giver: int, receiver: int) -> Record:
        """Let a seat show its cards to its partner."""
        pack = sealed_pack(self.ledger)
        assert pack is not None
        made = make_lend(pack, self.secrets(giver), seat=giver, receiver=receiver, hand=self.hand(giver))
        return self.players[giver].sign(self.body_of(made))

    def void(self, reason: str) -> Record:
        """Void the open call for a reason."""
        pack = sealed_pack(self.ledger)
        assert pack is not None
        return self.sign(Void(*here(self.ledger), self.ledger.deal_index, reason, pack.owing(), None))


def known(ledger: Ledger) -> set[int]:
    """The cards that a ledger which has read only records knows of the newest deal."""
    assert ledger.match is not None
    return {card for cards in ledger.match.hand.dealt.cards for card in cards if card is not None}
