"""Lessons for somebody who plays for the first time: why things happened, what each option would mean, what to try.

Lessons are made from what the player's own screen shows and from the rules of the table, a preset or a house variant;
nothing here sees more than the player does. What holds in every hand is said once. What to try comes as advice from
elsewhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from truc_bots import OptionResult
from truc_client.happenings import Fact, MatchStarted, MoveChoice, YourTurn
from truc_client.table import Table
from truc_terminal.replay_model.board import LaidCard, ShownHand
from truc_terminal.screen.drawing import MatchLook, short_label
from truc_terminal.screen.menu import menu
from truc_terminal.screen.questions import option_label
from truc_terminal.styles import Advice
from truc_words import move_meaning
from truc_words.primer import Bet, Primer

Taught = Fact | MatchStarted | YourTurn | Advice
"""What a lesson is about."""

Teach = Callable[[Taught, ShownHand, MatchLook], Iterable[str]]
"""What a screen asks for lessons: given what has come, and the table after it."""

StrongerCounts = Mapping[str, int]
"""How many cards are stronger than each, with the card that is turned up."""

_PLAY, _RAISE = "play", "raise"
_REASONS: Final = MappingProxyType({"raise": "why-raise", "decline": "why-decline"})
_EVEN: Final = 0.02  # of a game: what rollouts tell no better than a guess
_ENVIDO_BETS: Final = ("envido", "real-envido", "falta-envido")
_FLOR_BETS: Final = ("flor", "flor-fold", "contraflor", "contraflor-rest")
_ANSWERS: Final = ("accept", "decline")
_ON_THE_HAND: Final = ("stake", "last-point")
"""What an answer is to that is about the cards as they are played."""
_ENVIDO: Final = frozenset({*_ENVIDO_BETS, "points"})


def teach_nothing(taught: Taught, board: ShownHand, look: MatchLook) -> Iterable[str]:
    """Teach nothing."""
    del taught, board, look
    return ()


def teaching_at(table: Table) -> Teach:
    """Return the lessons of a table, by the rules signed into its match; nothing is taught before there is a match."""
    found: list[Teacher] = []

    def teach(taught: Taught, board: ShownHand, look: MatchLook) -> Iterable[str]:
        # The rules come with the match: those of a house variant are known from nowhere else.
        if not found and table.match is not None:
            found.append(Teacher(Primer(table.match.ledger.setup.terms.variant)))
        return found[0](taught, board, look) if found else ()

    return teach


class Teacher:
    """Teaches a game to one player."""

    def __init__(self, primer: Primer) -> None:
        self._primer = primer
        self._stronger = cache(primer.stronger)
        self._said: set[str] = set()

    def __call__(self, taught: Taught, board: ShownHand, look: MatchLook) -> Iterator[str]:
        """Yield what there is to say, in the player's language."""
        yield from self._game(look)
        match taught:
            case MatchStarted():
                pass
            case YourTurn():
                yield from self._turn(taught, board, look)
            case Advice():
                yield from self._advice(taught, board, look)
            case _:
                yield from self._fact(taught, board, look)

    def _once(self, key: str, look: MatchLook, **values: object) -> Iterator[str]:
        yield from self._new(_say(look, key, **values), key)

    def _new(self, lesson: str, key: str) -> Iterator[str]:
        """Yield a lesson that has not been given yet."""
        if key not in self._said:
            self._said.add(key)
            yield lesson

    def _game(self, look: MatchLook) -> Iterator[str]:
        """Yield how the game goes, before anything else."""
        rules, speech = self._primer.variant, look.speech
        yield from self._once("hand", look)
        counted = "unit" if rules.scoring.points_per_unit else "point"
        yield from self._once("goal", look, target=speech.counted(counted, rules.scoring.target))
        if rules.match > 1:
            yield from self._once("match", look, n=rules.match)
        yield from self._words(look)
        yield from self._once("order", look, order=self._primer.order)
        if not look.faces.is_plain:
            legend = look.faces.legend
            yield from self._new(speech.catalogue.screen[legend], legend)

    def _words(self, look: MatchLook) -> Iterator[str]:
        """Yield what the words mean by which the table calls players and points in this game."""
        local = look.speech.local
        for role in ("eldest", "dealer"):
            if role in local.terms:
                yield from self._once(f"word-{role}", look, word=local.terms[role])
        if local.halves:
            low, high = (local.halves[which][1].format(n="").strip() for which in ("low", "high"))
            yield from self._once("word-halves", look, low=low, high=high)

    def _turn(self, turn: YourTurn, board: ShownHand, look: MatchLook) -> Iterator[str]:
        # What one may do, but need not, is offered after every record: its meaning is told when asked for.
        if not turn.must:
            return
        if any(choice.kind in _ENVIDO for choice in turn.options) or board.answering == "envido":
            yield from self._envido(board, look)
        for meaning, numbers in self._meanings(turn, board, look).items():
            yield f"{', '.join(numbers)}. {meaning}"

    def _envido(self, board: ShownHand, look: MatchLook) -> Iterator[str]:
        """Yield how envido is counted, and once in a hand what one's own cards count."""
        cards = [card for card in board.own if card is not None]
        if cards:
            yield from self._once("envido", look)
            if self._primer.pieces:
                yield from self._once("envido-pieces", look, numbers=self._primer.pieces)
            own = _say(look, "envido-own", n=self._primer.value("envido", cards, board.turned_up))
            yield from self._new(own, f"envido {' '.join(sorted(cards))}")

    def _meanings(self, turn: YourTurn, board: ShownHand, look: MatchLook) -> Mapping[str, list[str]]:
        """Return the numbers of the options by their meaning: cards every time, other moves only the first time."""
        stronger_than = self._stronger(board.turned_up)
        told: dict[str, list[str]] = {}
        for option in menu(turn, board):
            choice, number = option.choices[0], option.key
            card = choice.line.removeprefix(f"{_PLAY} ")
            if choice.kind == _PLAY and card in stronger_than:
                told.setdefault(_of_card(card, board, look, stronger_than), []).append(number)
            elif (meaning := _meaning(choice, board, look)) not in self._said:
                told.setdefault(meaning, []).append(number)
        self._said.update(told)
        return told

    def _advice(self, advice: Advice, board: ShownHand, look: MatchLook) -> Iterator[str]:
        """Yield what seems best, what next best, and why; nothing before there are cards to judge by."""
        if not board.cards:
            return
        (best, result), *others = advice.compared or ((None, None),)
        if best is None or result is None:
            return
        yield from self._once("advice", look)
        values = {"move": _named(best, advice.turn, board, look), "why": _why(result, look)}
        reason = self._reasons(best, board, look)
        yield " ".join([_say(look, "suggestion", **values), *reason])
        for other, other_result in others[:1]:
            values = {"move": _named(other, advice.turn, board, look), "why": _why(other_result, look)}
            yield _say(look, "next-best", **values)
            if (odd := _oddity(result, other_result)) is not None:
                yield _say(look, odd)

    def _reasons(self, best: MoveChoice, board: ShownHand, look: MatchLook) -> Iterator[str]:
        """Yield why a choice may be a good one, in the terms of the game, where that can be seen."""
        stronger_than, own = self._stronger(board.turned_up), [card for card in board.own if card is not None]
        if (bet := _bet(best, board)) is not None:
            if own:
                primer, up = self._primer, board.turned_up
                values = {"n": primer.value(bet, own, up), "beats": primer.beats_of_100(bet, own, up)}
                yield _say(look, f"why-{bet}", **values)
        # Neither the tricks nor the bet on values are a reason to agree to new cards.
        elif best.kind in _ANSWERS and board.answering not in _ON_THE_HAND:
            return
        elif best.kind == _PLAY and _RAISE not in best.line.split():
            if (key := _why_this_card(best.line.split()[1], board, stronger_than)) is not None:
                yield _say(look, key)
        elif best.kind in (_PLAY, _RAISE, *_ANSWERS):
            if (key := _REASONS.get(best.kind)) is not None:
                yield _say(look, key)
            yield from _how_strong(board, look, stronger_than)

    def _fact(self, fact: Fact, board: ShownHand, look: MatchLook) -> Iterator[str]:
        match fact:
            case {"what": "hands_committed"}:
                yield from self._once("bound", look)
            case {"what": "hands_opened"}:
                yield from self._once("opened", look)
            case {"what": "turned_up", "card": card} if raised := look.raised.get(card):
                yield _say(look, "raised", cards=_cards(raised, look))
            case {"what": "trick_won", "side": side}:
                yield from _why_won(board, look, self._stronger(board.turned_up), side)
            case {"what": "trick_tied"}:
                yield from self._once("tied", look)
            case {"what": "stake_asked", "seat": seat} if board.seat is not None and _is_other(seat, board):
                yield from self._once("asked", look)
            case {"what": "points_scored", "reason": "hand" | "declined" as reason}:
                yield from self._once(f"scored-{reason}", look)
            case _:
                pass


def _bet(choice: MoveChoice, board: ShownHand) -> Bet | None:
    """Return the side bet that a choice is about."""
    answered = board.answering if choice.kind in _ANSWERS else ""
    if choice.kind in _ENVIDO_BETS or answered == "envido":
        return "envido"
    return "flor" if choice.kind in _FLOR_BETS or answered == "flor" else None


def _why_this_card(card: str, board: ShownHand, stronger_than: StrongerCounts) -> str | None:
    """Return the key of the reason for a card: what it is among one's own, beside what lies on the table."""
    own = [stronger_than[each] for each in board.cards if each in stronger_than]
    # Of equal cards none is the higher or the lower one.
    if card not in stronger_than or len(set(own)) == 1:
        return None
    best = best_laid(board.laid, stronger_than)
    if best is not None and best.card is not None and _is_other(best.seat, board):
        taking = [n for n in own if n < stronger_than[best.card]]
        if taking and stronger_than[card] == max(taking):
            return "why-takes"
    if stronger_than[card] == max(own):
        return "why-lowest"
    return "why-highest" if best is None and not board.tricks and stronger_than[card] == min(own) else None


def _how_strong(board: ShownHand, look: MatchLook, stronger_than: StrongerCounts) -> Iterator[str]:
    """Yield what one's cards are good for: tricks that nobody can take, a trick taken already, or how many are stronger."""
    own = sorted(
        (card for card in board.cards if card in stronger_than), key=lambda card: stronger_than[card]
    )
    unseen = stronger_than.keys() - _seen(board)
    rivals = [
        *unseen,
        *(laid.card for laid in board.laid if laid.card in stronger_than and _is_other(laid.seat, board)),
    ]
    # The fewer cards are stronger than one, the stronger it is.
    best_rival = min((stronger_than[str(card)] for card in rivals), default=len(stronger_than))
    sure = [card for card in own if stronger_than[card] < best_rival]
    if sure:
        key = "why-sure" if len(sure) == 1 else "why-sure-several"
        yield _say(look, key, cards=_cards(sure, look))
    if board.seat is not None and any(trick.side == board.seat % 2 for trick in board.tricks):
        yield _say(look, "why-ahead")
    stronger = sum(stronger_than[card] < stronger_than[own[0]] for card in unseen) if own and not sure else 0
    if stronger:
        yield _say(look, "why-best", card=_cards(own[:1], look), n=stronger, total=len(unseen))


def _seen(board: ShownHand) -> set[str | None]:
    """Return the cards of which one knows where they are."""
    tricks = (*board.tricks, board.last_trick)
    played = (laid.card for trick in tricks for laid in trick.laid)
    shown = (card for _, cards in (*board.memory.partners, *board.memory.opened) for card in cards)
    return {*board.own, *board.cards, *played, *shown, board.turned_up}


def _oddity(result: OptionResult, other_result: OptionResult) -> str | None:
    """Return the key of what explains that the next best looks better than the best; None if it does not."""
    is_richer = round(other_result.points, 1) > round(result.points, 1)
    wins_more = other_result.ahead * result.deals > result.ahead * other_result.deals
    if not is_richer and not (wins_more and round(other_result.points, 1) == round(result.points, 1)):
        return None
    if result.chance - other_result.chance < _EVEN:
        return "even"
    return "by-score" if is_richer else "fewer-wins"


def _say(look: MatchLook, key: str, **values: object) -> str:
    return look.speech.catalogue.lessons[key].format(**values)


def _cards(cards: Iterable[str], look: MatchLook) -> str:
    return " ".join(map(look.faces.card, cards))


def _is_other(seat: int, board: ShownHand) -> bool:
    """Tell whether a seat is on the other side; to a watcher every seat is."""
    return board.seat is None or (seat - board.seat) % 2 == 1


def best_laid(laid: Iterable[LaidCard], stronger_than: StrongerCounts) -> LaidCard | None:
    """Return the strongest card of a trick, the first of equals; None if none lies open."""
    laid = [each for each in laid if each.card in stronger_than]
    return min(laid, key=lambda each: stronger_than[str(each.card)], default=None)


def _why_won(board: ShownHand, look: MatchLook, stronger_than: StrongerCounts, side: int) -> Iterator[str]:
    best = best_laid(board.last_trick.laid, stronger_than)
    if best is not None and best.card is not None and best.seat % 2 == side:
        yield _say(look, "strongest", card=look.faces.card(best.card), seat=look.names[best.seat])


def _meaning(choice: MoveChoice, board: ShownHand, look: MatchLook) -> str:
    """Return what an option means; for a card with an ask, what the ask means, as the card alone is an option too."""
    _, with_ask, stake = choice.line.partition(f" {_RAISE} ")
    line = f"{_RAISE} {stake}" if with_ask else choice.line
    return move_meaning(line, look.speech, choice.hints, answering=board.answering)


def _of_card(card: str, board: ShownHand, look: MatchLook, stronger_than: StrongerCounts) -> str:
    """Return what a card would do to the trick as it stands."""
    best = best_laid(board.laid, stronger_than)
    shown = look.faces.card(card)
    if best is None or best.card is None:
        return _say(look, "leads", card=shown, n=stronger_than[card], total=len(stronger_than))
    values = {"card": shown, "best": look.faces.card(best.card), "seat": look.names[best.seat]}
    is_stronger = stronger_than[card] < stronger_than[best.card]
    if not _is_other(best.seat, board):
        return _say(look, "over-partner" if is_stronger else "partner", **values)
    if is_stronger:
        return _say(look, "beats", **values)
    return _say(look, "ties" if stronger_than[card] == stronger_than[best.card] else "falls", **values)


def _named(choice: MoveChoice, turn: YourTurn, board: ShownHand, look: MatchLook) -> str:
    """Return an option as its number, if it has one, and its label."""
    label = short_label(option_label(choice, board, look))
    keys = (option.key for option in menu(turn, board) if choice in option.choices)
    return next((f"{key} ({label})" for key in keys), label)


def _why(result: OptionResult, look: MatchLook) -> str:
    """Return how an option fared in the imagined deals."""
    tenths = round(result.points, 1)
    points = f"{tenths:+g}".replace(".", look.speech.say("said.decimal")) if tenths else "0"
    if result.is_certain:
        return _say(look, "certain", points=points)
    return _say(look, "tried", ahead=result.ahead, deals=result.deals, points=points)
