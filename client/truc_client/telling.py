"""The cards that a player is told of: with the record that brings them, and again when a client comes back in a hand."""

from truc_client.happenings import CardsDealt, Happening, PartnerCards
from truc_client.witness import Witness
from truc_protocol.bodies import AnyBody, Deal, Share
from truc_protocol.dealing import Opening


def cards_told(witness: Witness, seat: int | None, body: AnyBody) -> list[Happening]:
    """Return the cards that a record has brought to a seat that opens its boxes itself."""
    match body:
        case Deal() if seat is not None and body.boxes[seat] and witness.openings:
            return [CardsDealt(_named(witness, witness.openings))]
        case Share(receiver=receiver) if receiver == seat and witness.partners:
            giver, openings = witness.partners[-1]
            return [PartnerCards(giver, _named(witness, openings))]
        case _:
            return []


def cards_held(witness: Witness) -> list[Happening]:
    """Return the cards that a seat knows of the hand that is open: its own, and its partners'."""
    if witness.ledger.hand is None or not witness.openings:
        return []
    shown = [PartnerCards(giver, _named(witness, openings)) for giver, openings in witness.partners]
    return [CardsDealt(_named(witness, witness.openings)), *shown]


def _named(witness: Witness, openings: tuple[Opening, ...]) -> tuple[str, ...]:
    pack = witness.ledger.setup.terms.variant.pack
    return tuple(pack[opening.card] for opening in openings)
