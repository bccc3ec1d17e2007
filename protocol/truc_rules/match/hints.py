"""What a move would mean: figures beside every option, for a client that does not know the rules."""

from truc_rules.contests import envido
from truc_rules.positions.actions import CONTEST_CALLS, REST, Action, Kind
from truc_rules.positions.hand import EnvidoAsk, LastPointAsk, Offer, StakeAsk
from truc_rules.positions.match import Match

Hints = tuple[tuple[str, int | str], ...]

GAME = "game"
# looked up once: a lookup in an Enum is costly where every option has its hints
_ASKS, _ANSWERS = frozenset({Kind.RAISE, Kind.PLAY}), frozenset({Kind.ACCEPT, Kind.DECLINE})
_ACCEPT, _CONCEDE, _DEAL = Kind.ACCEPT, Kind.CONCEDE, Kind.DEAL
_ENVIDOS = CONTEST_CALLS - {Kind.FLOR}


def hints(match: Match, action: Action) -> Hints:
    """Return the figures that go with a legal `action`; none of them depends on hidden cards.

    stake: what the hand is worth if it is accepted; points: what an envido is worth if it is accepted; declined: what
    the asking side gets if it is not; loses: what this move gives the other side; cards: how many each seat gets.
    """
    kind, offers = action.kind, match.hand.offers
    offer = offers[-1] if offers else None
    if kind in _ASKS:
        return _of_stake(match, action, offer if isinstance(offer, StakeAsk) else None)
    if kind in _ANSWERS:
        return _of_answer(match, offer, accepts=kind is _ACCEPT)
    if kind is _CONCEDE:
        return (("loses", _conceded(match, action)),)
    if kind is _DEAL:
        return (("cards", 1 if action.value == 1 else 3),)
    if kind in _ENVIDOS:
        before = offer.calls if isinstance(offer, EnvidoAsk) else ()
        return _of_envido(match, (*before, kind))
    return ()


def _of_answer(match: Match, offer: Offer | None, *, accepts: bool) -> Hints:
    match offer:
        case StakeAsk():
            return (("stake", _shown(offer.stake)),) if accepts else (("loses", match.hand.bets.stake),)
        case LastPointAsk():
            return (("stake", offer.stake),) if accepts else (("loses", offer.decline),)
        case EnvidoAsk():
            worth, declined = _of_envido(match, offer.calls)
            return (worth,) if accepts else (("loses", declined[1]),)
        case _:
            return ()


def _of_envido(match: Match, calls: tuple[Kind, ...]) -> Hints:
    points = envido.accepted_points(match, calls)
    return ("points", max(points)), ("declined", envido.declined_points(calls))


def _conceded(match: Match, action: Action) -> int | str:
    bets = match.hand.bets
    if bets.locked is not None:
        return _shown(bets.locked)
    return bets.stake + envido.fold_bonus(match, action.seat)


def _of_stake(match: Match, action: Action, answered: StakeAsk | None) -> Hints:
    if answered is not None and (action.value is None or answered.stake == REST):
        return (("stake", _shown(answered.stake)),)
    if action.value is None:
        return ()
    stake = match.hand.bets.stake if answered is None else answered.stake
    return ("stake", _shown(action.value)), ("declined", stake)


def _shown(stake: int | str) -> int | str:
    return GAME if stake == REST else stake
