"""What each seat of one match is asked and shown for itself: its options, and cards in clear.

Synchronous. Invariant: only a connection that has been sent every earlier record is asked anything.
"""

from collections.abc import Iterable

from truc_protocol.dealer import Dealer
from truc_protocol.ledger import Ledger
from truc_protocol.messages import Waiting
from truc_protocol.wire.connection import broadcast_frame
from truc_rules import Action
from truc_server.matches.choices import Moment, Sealer, comes_always, open_actions, options_message, some_cut
from truc_server.matches.clear_cards import cards_message
from truc_server.matches.deadlines import Waits
from truc_server.matches.windows import Window, is_asked
from truc_server.net.peer import Peer
from truc_server.spectating.audience import Audience


class Asking:
    """What the seats of one match are asked."""

    def __init__(self, table: str, audience: Audience, dealer: Dealer, sealer: Sealer) -> None:
        self._sealer = sealer
        self._table = table
        self._audience = audience
        self._dealer = dealer
        self._options: tuple[int, tuple[tuple[Action, ...], ...]] | None = None
        self._cut: tuple[int, int] | None = None

    def options(self, ledger: Ledger, seat: int) -> tuple[Action, ...]:
        """Return what a seat may choose from at this position: its options, with which its answer is compared too."""
        if self._options is None or self._options[0] != ledger.k:
            self._options = (ledger.k, open_actions(ledger))
        return self._options[1][seat]

    def cut(self, ledger: Ledger) -> int:
        """Return the place of the cut that the options at this position offer; 0 in a hand, where nobody cuts."""
        if ledger.hand is not None:
            return 0
        if self._cut is None or self._cut[0] != ledger.k:
            self._cut = (ledger.k, some_cut(ledger))
        return self._cut[1]

    def show_cards(self, ledger: Ledger, seat: int, *, of: int | None = None) -> None:
        """Send a guest without a box its own cards, or those of a partner, in clear."""
        peer = self._audience.live(seat)
        if peer is not None:
            cards = cards_message(ledger, self._dealer, self._table, seat=seat, of=of)
            if cards is not None:
                peer.notify(cards)

    def show_all_cards(self, ledger: Ledger, seat: int) -> None:
        """Send a guest without a box its cards, and those it was shown."""
        self.show_cards(ledger, seat)
        for share in ledger.hand.shares if ledger.hand is not None else ():
            if share.receiver == seat:
                self.show_cards(ledger, seat, of=share.giver)

    def ask(self, ledger: Ledger, waits: Waits, window: Window | None, seats: Iterable[int]) -> bytes | None:
        """Ask seats; tell those that need not answer whom the match waits for, and return the frame that says so."""
        waiting = waits.notice(self._table)
        notice = None if waiting is None else broadcast_frame(waiting)
        moment = self._moment(ledger, waits.offer, waiting)
        for seat in seats:
            peer = self._audience.live(seat)
            if peer is not None and not self._must_answer(peer, ledger, window, moment, seat) and notice:
                peer.send_frame(notice)
        return notice

    def _must_answer(
        self, peer: Peer, ledger: Ledger, window: Window | None, moment: Moment, seat: int
    ) -> bool:
        """Send a seat its options, if it has or may have any; tell whether it has some and this is no secret."""
        # in an open window only seats with something to say are asked
        is_asked_now = window is None or is_asked(window, ledger, seat)
        actions = self.options(ledger, seat) if is_asked_now else ()
        is_secret = seat not in moment.holders and comes_always(ledger, seat)
        if actions or is_secret:
            sealer, dealer, cut = self._sealer, self._dealer, self.cut(ledger)
            peer.notify(options_message(ledger, sealer, dealer, moment, seat, actions=actions, cut=cut))
        return bool(actions) and not is_secret

    def _moment(self, ledger: Ledger, offer: int, waiting: Waiting | None) -> Moment:
        mid, at = ledger.setup.mid, ledger.k
        if waiting is None or waiting.what != "decision":
            return Moment(self._table, mid, at, offer, (), None)
        return Moment(self._table, mid, at, offer, waiting.seats, waiting.deadline_ms)
