"""The redeal: eldest proposes, others consent, new cards come from the rest of the pack (rules.md 3, 4, 5)."""

from truc_rules.cards.seats import Seat, seat_after, seats_after
from truc_rules.positions.actions import Action, Kind, words, yes_or_no
from truc_rules.positions.events import RedealAgreed, RedealGranted, RedealProposed, RedealRefused, Stood
from truc_rules.positions.match import HandCards, HandPhase, Match, RedealAsk, Step
from truc_rules.stakes import last_point


def may_propose(match: Match, dealt: HandCards) -> bool:
    """Tell whether a redeal may be proposed over `dealt`: one more is allowed, and the pack can supply a whole deal."""
    rule = match.variant.redeal
    if rule is None or len(match.variant.pack) - dealt.taken < match.seats * dealt.each:
        return False
    return rule.max == "pack" or dealt.redeals < rule.max


def actions(match: Match, seat: Seat) -> tuple[Action, ...]:
    """Return stand and redeal for eldest."""
    is_eldest = seat == seat_after(match.dealer, match.seats)
    return words(seat, Kind.REDEAL, Kind.STAND) if is_eldest else ()


def answers(seat: Seat, question: RedealAsk) -> tuple[Action, ...]:
    """Return the answers of `seat`, if it is the one that is asked."""
    return yes_or_no(seat) if seat == question.waiting[0] else ()


def decide(match: Match, action: Action) -> Step:
    """Propose a redeal, or begin the play."""
    hand, seat = match.hand, action.seat
    if action.kind is Kind.STAND:
        begun, events = last_point.begin(match, hand)
        return begun, (Stood(seat), *events)
    question = RedealAsk(seat, _asked(match, seat))
    return hand._replace(offers=(question,)), (RedealProposed(seat),)


def _asked(match: Match, eldest: Seat) -> tuple[Seat, ...]:
    rule = match.variant.redeal
    if rule is not None and rule.consent == "all":
        return seats_after(eldest, match.seats)[:-1]
    return (match.dealer,)


def answer(match: Match, action: Action, question: RedealAsk) -> Step:
    """Consent or refuse; one refusal ends it, the last consent grants it."""
    hand, seat = match.hand, action.seat
    if action.kind is Kind.DECLINE:
        begun, events = last_point.begin(match, hand)
        return begun, (RedealRefused(seat), *events)
    still = question.waiting[1:]
    if still:
        asked = RedealAsk(question.seat, still)
        return hand._replace(offers=(asked,)), (RedealAgreed(seat),)
    return hand._replace(phase=HandPhase.DEAL, dealt=_thrown_in(hand.dealt), offers=()), (
        RedealGranted(seat),
    )


def _thrown_in(dealt: HandCards) -> HandCards:
    known = tuple(card for cards in dealt.cards for card in cards if card is not None)
    return dealt._replace(redeals=dealt.redeals + 1, thrown=dealt.thrown + known, cards=())
