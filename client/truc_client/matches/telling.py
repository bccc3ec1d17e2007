"""What a player is told about a match and the cards: when they come, and again when a client comes back."""

from collections.abc import Mapping

from truc_client.happenings import CardsDealt, Happening, MatchStarted, PartnerCards, Recalled
from truc_client.matches.live_audit import Witness
from truc_protocol.bodies import AnyBody, Deal, Share, Sub
from truc_protocol.dealing import Opening
from truc_protocol.records import parse, tag_of

_SIDES = 2  # with so few seats nobody has a partner, and only partners see signs
_SUB = tag_of(Sub).encode()


def match_started(witness: Witness, seat: int | None, *, resumed: bool) -> MatchStarted:
    """Return the report that a match has begun, or goes on."""
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
    """Return the names of those who play now; substitutes came in by `sub` records."""
    names = {at: taken.name for at, taken in enumerate(witness.ledger.setup.seats)}
    for record in witness.file.records:
        if _SUB in record.body[: len(_SUB) + 2]:
            sub = parse(record)
            names |= {sub.seat: sub.name} if isinstance(sub, Sub) else {}
    return tuple(name.decode(errors="replace") for name in names.values())


def _raised(witness: Witness) -> Mapping[str, tuple[str, ...]]:
    """Return, for each card that may be turned up, the cards of the next rank, strongest first."""
    variant = witness.ledger.setup.terms.variant
    if variant.turnup is None:
        return {}
    raised, suits = variant.turnup.raised, variant.turnup.suits
    return {card: tuple(raised[card[:-1]] + suit for suit in suits) for card in variant.pack}


def told_again(witness: Witness, seat: int | None) -> list[Happening]:
    """Return what a client is told when it comes back to a match that it kept in part."""
    return [match_started(witness, seat, resumed=True), Recalled(witness.recalled), *cards_held(witness)]


def cards_told(witness: Witness, seat: int | None, body: AnyBody) -> list[Happening]:
    """Return the cards that a record brings to a seat that opens its own boxes."""
    match body:
        case Deal() if seat is not None and body.boxes[seat] and witness.openings:
            return [CardsDealt(_named(witness, witness.openings))]
        case Share(receiver=receiver) if receiver == seat and witness.partners:
            giver, openings = witness.partners[-1]
            return [PartnerCards(giver, _named(witness, openings))]
        case _:
            return []


def cards_held(witness: Witness) -> list[Happening]:
    """Return the cards that a seat knows in the open hand: its own, and those that partners shared."""
    if witness.ledger.hand is None or not witness.openings:
        return []
    shown = [PartnerCards(giver, _named(witness, openings)) for giver, openings in witness.partners]
    return [CardsDealt(_named(witness, witness.openings)), *shown]


def _named(witness: Witness, openings: tuple[Opening, ...]) -> tuple[str, ...]:
    pack = witness.ledger.setup.terms.variant.pack
    return tuple(pack[opening.card] for opening in openings)
