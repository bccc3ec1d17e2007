"""What this client holds in one match: its chains with the X25519 keys that came with them, and which is in force.

The ledger says which key is in force for a seat, and the key identifies the chain. Invariant: a chain is stored
together with the first statement that names it, and no two chains of a match share a root or a key.
"""

import secrets
from dataclasses import replace

from truc_client.home.store import HeldChain, Store
from truc_protocol.crypto.chains import LINK_BYTES, Chain
from truc_protocol.crypto.keys import generate_box_key
from truc_protocol.ledger import Ledger
from truc_protocol.setup import Terms

_BOX_KEY, _ANCHOR = "box key", "anchor"  # as the ledger names what a match has used


class Holding:
    """The chains of one player in one match."""

    def __init__(self, public: bytes, terms: Terms, store: Store) -> None:
        self._public = public
        self._terms = terms
        self._store = store
        self._held = {chain.x: chain for chain in store.chains(terms.th)}
        self._made: dict[bytes, Chain] = {}

    def in_force(self, ledger: Ledger, seat: int) -> HeldChain | None:
        """Return the chain in force for a seat; None if it is not this client's."""
        contributor = ledger.contributors[seat + 1]
        if contributor is None or contributor.public != self._public:
            return None
        return self._held.get(contributor.x)

    def was_in_force(self, ledger: Ledger) -> bool:
        """Tell whether any chain of this client has ever been in force in this match."""
        return any((_BOX_KEY, x) in ledger.commitments for x in self._held)

    def link(self, held: HeldChain, number: int) -> bytes:
        """Return a link of a chain."""
        return self._chain(held).link(number)

    def anchor(self, held: HeldChain) -> bytes:
        """Return the anchor of a chain."""
        return self._chain(held).anchor

    def _chain(self, held: HeldChain) -> Chain:
        made = self._made.get(held.x)
        if made is None:
            made = chain_of(held, self._public, self._terms)
            self._made[held.x] = made
        return made

    def fresh(self, ledger: Ledger, *, after_loss: bool) -> HeldChain:
        """Return a chain for the next deal that was not in force yet: one that was named before, else a new one.

        Another seat may meanwhile have copied the anchor or box key of one that was named: then it is no longer used.
        """
        for held in self._held.values():
            if held.first == ledger.deal_index and not self._is_used(held, ledger):
                return replace(held, after_loss=held.after_loss or after_loss)
        return new_chain(ledger.deal_index, after_loss=after_loss)

    def _is_used(self, held: HeldChain, ledger: Ledger) -> bool:
        return not ledger.commitments.isdisjoint({(_BOX_KEY, held.x), (_ANCHOR, self.anchor(held))})

    def counted(self, held: HeldChain, counter: int) -> None:
        """Note the counter of the newest box sealed to the key of a chain."""
        self._held[held.x] = replace(held, counter=counter)

    def add(self, held: HeldChain) -> None:
        """Note a chain that is in the store now."""
        self._held[held.x] = held

    def drop(self) -> None:
        """Drop every secret: the seat is no longer played from here."""
        self._held.clear()
        self._made.clear()
        self._store.drop_secrets(self._terms.th)


def new_chain(first: int, *, after_loss: bool = False) -> HeldChain:
    """Draw the secrets of a new chain."""
    x = generate_box_key()
    return HeldChain(x.public, first, secrets.token_bytes(LINK_BYTES), x.secret, after_loss)


def chain_of(held: HeldChain, public: bytes, terms: Terms) -> Chain:
    """Return the links of a chain of the player with the key `public`."""
    table = terms.table
    return Chain(public, table.tn, held.root, first=held.first, count=table.links)
