"""What the seats of one match are asked and shown for themselves: their options, and cards in clear.

Synchronous. Invariant: only a connection that has been sent every record before is asked anything.
"""

from truc_protocol.bodies import AnyBody, Deal
from truc_protocol.ledger import Ledger
from truc_protocol.messages import Waiting
from truc_rules import Action
from truc_server.matches.choices import Moment, Sealer, comes_always, open_actions, options_message, some_cut
from truc_server.matches.clear_cards import cards_message
from truc_server.matches.dealer import Dealer
from truc_server.matches.waits import Waits, opens_decision
from truc_server.matches.windows import Window, is_asked
from truc_server.tables.audience import Audience


class Asking:
    """What was asked of the seats at which position."""

    def __init__(self, table: str, audience: Audience, dealer: Dealer, sealer: Sealer) -> None:
        self._sealer = sealer
        self._table = table
        self._audience = audience
        self._dealer = dealer
        self._offer = 0
        self._deal_at = 0
        self._cut: tuple[int, int] | None = None

    def note(self, k: int, body: AnyBody) -> None:
        """Note a record that has been taken."""
        if opens_decision(body):
            self._offer = k
        if isinstance(body, Deal):
            self._deal_at = k

    def cut(self, ledger: Ledger) -> int:
        """Return the place of a cut that the options at this position offer; 0 in a hand, in which nobody cuts."""
        if ledger.hand is not None:
            return 0
        if self._cut is None or self._cut[0] != ledger.k:
            self._cut = (ledger.k, some_cut(ledger))
        return self._cut[1]

    def show_cards(self, ledger: Ledger, seat: int, *, of: int | None = None) -> None:
        """Send a guest without a box its own cards, or those of a partner, in clear."""
        peer = self._audience.live(seat)
        if peer is not None:
            place = (self._table, self._deal_at)
            cards = cards_message(ledger, self._dealer, place, seat=seat, of=of)
            if cards is not None:
                peer.send(cards)

    def show_all_cards(self, ledger: Ledger, seat: int) -> None:
        """Send a guest without a box its cards, and those it was shown."""
        self.show_cards(ledger, seat)
        for share in ledger.hand.shares if ledger.hand is not None else ():
            if share.receiver == seat:
                self.show_cards(ledger, seat, of=share.giver)

    def ask_all(self, ledger: Ledger, waits: Waits, window: Window | None) -> Waiting | None:
        """Ask every seat; return what those are told who need not answer."""
        waiting = waits.notice(ledger, self._table)
        for seat in range(ledger.seats):
            self._ask(ledger, waits, window, seat=seat, waiting=waiting)
        return waiting

    def ask(self, ledger: Ledger, waits: Waits, window: Window | None, seat: int) -> None:
        """Send a seat its options, if it has or may have any; and if it need not answer, whom the match waits for."""
        self._ask(ledger, waits, window, seat=seat, waiting=waits.notice(ledger, self._table))

    def _ask(
        self, ledger: Ledger, waits: Waits, window: Window | None, *, seat: int, waiting: Waiting | None
    ) -> None:
        peer = self._audience.live(seat)
        if peer is None:
            return
        actions, comes = _open_actions(ledger, waits, window, seat), comes_always(ledger, seat)
        if actions or comes:
            moment = self._moment(ledger, waits, seat)
            cut = self.cut(ledger)
            peer.send(options_message(ledger, self._sealer, self._dealer, moment, actions=actions, cut=cut))
        if waiting is not None and (not actions or (comes and seat not in waiting.seats)):
            peer.send(waiting)

    def _moment(self, ledger: Ledger, waits: Waits, seat: int) -> Moment:
        wait = waits.now(ledger)
        is_open = wait is not None and wait.what == "decision" and bool(wait.seats)
        left = waits.left_ms(wait) if wait is not None and is_open else None
        must = wait is not None and is_open and seat in wait.seats
        return Moment(seat, self._table, ledger.setup.mid, ledger.k, self._offer, must, left)


def _open_actions(ledger: Ledger, waits: Waits, window: Window | None, seat: int) -> tuple[Action, ...]:
    """Return what a seat may choose from; while a window is open only who has something to say in it may."""
    opened = window if waits.is_window(ledger) else None
    if opened is not None and not is_asked(opened, ledger, seat):
        return ()
    return open_actions(ledger, seat)
