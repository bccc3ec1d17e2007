"""What a player is told about a match: what each record means, the cards it brings, and all of it on coming back."""

from collections.abc import Mapping

from truc_client.happenings import (
    CardsDealt,
    Happening,
    MatchContinued,
    MatchStarted,
    PartnerCards,
    RecordSeen,
    Substituted,
)
from truc_client.matches.live_audit import LiveAudit
from truc_protocol.acts import HeldCard
from truc_protocol.audit import Finding
from truc_protocol.bodies import AnyBody, Close, Deal, Lend, Share, Sub
from truc_protocol.ledger import Ledger
from truc_protocol.ledger.facts import is_score_minimum, means
from truc_protocol.records import is_of_kind, kind_of, parse
from truc_rules import Seat, View, view

_SIDES = 2  # with so few seats nobody has a partner, and only partners see signs


def view_of(ledger: Ledger, seat: int | None) -> View | None:
    """Return what a seat, or a watcher, may see of a match as it stands; None before the first dealer is drawn.

    Only a guest's own cards are missing in it: no box is sealed to a guest, the server tells them.
    """
    return None if ledger.match is None else view(ledger.match, None if seat is None else Seat(seat))


def record_told(audit: LiveAudit, seat: int | None, finding: Finding) -> list[Happening]:
    """Return what a record of a match, which has passed its checks, means to a seat."""
    body, k, ledger = finding.body, finding.k, audit.seen
    opened = audit.opened if isinstance(body, Close) else None
    facts = means(body, ledger, finding.events, opened)
    kind = kind_of(body)
    told: list[Happening] = [
        RecordSeen(
            -1 if k is None else k, kind, tuple(facts), is_score_minimum(ledger), view_of(ledger, seat)
        ),
        *_cards_told(audit, seat, body),
    ]
    if isinstance(body, Sub):
        told.append(Substituted(body.seat, body.name.decode()))
    return told


def _cards_told(audit: LiveAudit, seat: int | None, body: AnyBody) -> list[Happening]:
    """Return the cards that a record brings to a seat that opens its own boxes."""
    match body:
        case Deal() if seat is not None and _shows(audit, body, seat):
            return [CardsDealt(_named(audit, audit.auditor.openings))]
        case Share(receiver=receiver) | Lend(receiver=receiver) if (
            receiver == seat and audit.auditor.partners
        ):
            giver, openings = audit.auditor.partners[-1]
            return [PartnerCards(giver, _named(audit, openings))] if openings else []
        case _:
            return []


def _shows(audit: LiveAudit, body: Deal, seat: int) -> bool:
    """Tell whether a deal shows a seat its cards: out of its box, or in mode blind by everybody's keys."""
    return bool(audit.auditor.openings) and (audit.ledger.is_dealerless or bool(body.boxes[seat]))


def match_started(audit: LiveAudit, seat: int | None, *, resumed: bool) -> MatchStarted:
    """Return the report that a match has begun, or goes on."""
    setup, path = audit.ledger.setup, audit.file.path
    variant = setup.terms.variant
    return MatchStarted(
        setup.mid,
        variant.name,
        variant.pack,
        _players(audit),
        seat,
        setup.level,
        path,
        resumed,
        words=variant.words,
        target=variant.scoring.target,
        signs=variant.signals.vocabulary if variant.signals and len(setup.seats) > _SIDES else (),
        phrases=variant.phrases,
        raised=_raised(audit),
        rules=variant,
        mode=setup.terms.table.mode,
    )


def _players(audit: LiveAudit) -> tuple[str, ...]:
    """Return the names of those who play now; substitutes came in by `sub` records."""
    names = {at: taken.name for at, taken in enumerate(audit.ledger.setup.seats)}
    for record in audit.file.records:
        if is_of_kind(record.body, Sub):
            sub = parse(record)
            names |= {sub.seat: sub.name} if isinstance(sub, Sub) else {}
    return tuple(name.decode(errors="replace") for name in names.values())


def _raised(audit: LiveAudit) -> Mapping[str, tuple[str, ...]]:
    """Return, for each card that may be turned up, the cards of the next rank, strongest first."""
    variant = audit.ledger.setup.terms.variant
    return {} if variant.turnup is None else {card: variant.turnup.raised(card) for card in variant.pack}


def told_again(audit: LiveAudit, seat: int | None) -> list[Happening]:
    """Return what a client is told when it comes back to a match kept in part: how it stands, and the open hand's cards."""
    recalled = MatchContinued(audit.recalled, view_of(audit.seen, seat))
    return [match_started(audit, seat, resumed=True), recalled, *_cards_held(audit)]


def _cards_held(audit: LiveAudit) -> list[Happening]:
    """Return the cards that a seat knows in the open hand: its own, and those that partners shared."""
    if audit.ledger.hand is None or not audit.auditor.openings:
        return []
    shown = [PartnerCards(giver, _named(audit, openings)) for giver, openings in audit.auditor.partners]
    return [CardsDealt(_named(audit, audit.auditor.openings)), *shown]


def _named(audit: LiveAudit, openings: tuple[HeldCard, ...]) -> tuple[str, ...]:
    pack = audit.ledger.setup.terms.variant.pack
    return tuple(pack[opening.card] for opening in openings)
