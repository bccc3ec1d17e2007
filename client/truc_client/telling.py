"""What a player is told of a match and of cards: when they come, and again when a client comes back in a hand."""

from collections.abc import Mapping

from truc_client.happenings import CardsDealt, Happening, MatchStarted, PartnerCards, Recalled
from truc_client.witness import Witness
from truc_protocol.bodies import AnyBody, Deal, Share, Sub
from truc_protocol.dealing import Opening
from truc_protocol.records import parse, tag_of

_SIDES = 2  # with no more seats nobody has a partner, who alone would see signs
_SUB = tag_of(Sub).encode()


def match_started(witness: Witness, seat: int | None, *, resumed: bool) -> MatchStarted:
    """Return that a match is there."""
    setup, path = witness.ledger.setup, witness.file.path
    variant = setup.terms.variant
    return MatchStarted(
        setup.mid,
        variant.name,
        variant.pack,
        _players(witness),
        seat,
        setup.level,
        path,
        resumed,
        words=variant.words,
        target=variant.scoring.target,
        signs=variant.signals.vocabulary if variant.signals and len(setup.seats) > _SIDES else (),
        phrases=variant.phrases,
        raised=_raised(witness),
    )


def _players(witness: Witness) -> tuple[str, ...]:
    """Return the names of those who play now: substitutes have come in by records."""
    names = {at: taken.name for at, taken in enumerate(witness.ledger.setup.seats)}
    for record in witness.file.records:
        if _SUB in record.body[: len(_SUB) + 2]:
            sub = parse(record)
            names |= {sub.seat: sub.name} if isinstance(sub, Sub) else {}
    return tuple(name.decode(errors="replace") for name in names.values())


def _raised(witness: Witness) -> Mapping[str, tuple[str, ...]]:
    """Return by each card that may be turned up the cards of the next rank, the strongest first."""
    variant = witness.ledger.setup.terms.variant
    if variant.turnup is None:
        return {}
    raised, suits = variant.turnup.raised, variant.turnup.suits
    return {card: tuple(raised[card[:-1]] + suit for suit in suits) for card in variant.pack}


def told_again(witness: Witness, seat: int | None) -> list[Happening]:
    """Return what a client is told that comes back to a match of which it kept a part."""
    return [match_started(witness, seat, resumed=True), Recalled(witness.recalled), *cards_held(witness)]


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
