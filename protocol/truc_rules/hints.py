"""What a move would mean, as figures for a client that has no rules: beside every option."""

from .actions import REST, Action, Kind
from .state import LastPointAsk, StakeAsk
from .table import Match

Hints = tuple[tuple[str, int | str], ...]

GAME = "game"


def hints(match: Match, action: Action) -> Hints:
    """Return the figures that go with a legal `action`.

    stake: what the hand is worth if it is taken; declined: what the asking side gets if it is not; loses: what the
    other side gets by this move; cards: how many each seat gets.
    """
    offer = match.hand.offers[-1] if match.hand.offers else None
    match action.kind:
        case Kind.RAISE | Kind.PLAY:
            return _of_stake(match, action, offer if isinstance(offer, StakeAsk) else None)
        case Kind.ACCEPT if isinstance(offer, StakeAsk | LastPointAsk):
            return (("stake", _shown(offer.stake)),)
        case Kind.DECLINE if isinstance(offer, StakeAsk | LastPointAsk):
            return (("loses", match.hand.bets.stake if isinstance(offer, StakeAsk) else offer.decline),)
        case Kind.CONCEDE:
            return (("loses", GAME if match.hand.bets.locked else match.hand.bets.stake),)
        case Kind.DEAL:
            return (("cards", 1 if action.value == 1 else 3),)
        case _:
            return ()


def _of_stake(match: Match, action: Action, answered: StakeAsk | None) -> Hints:
    if answered is not None and (action.value is None or answered.stake == REST):
        return (("stake", _shown(answered.stake)),)
    if action.value is None:
        return ()
    stake = match.hand.bets.stake if answered is None else answered.stake
    return ("stake", _shown(action.value)), ("declined", stake)


def _shown(stake: int | str) -> int | str:
    return GAME if stake == REST else stake
