"""What a prompt asks: the options as keys, the words it completes, how long there is to decide.

A screen makes a question, a prompt shows it; neither knows the other. A position is asked about once: if it is asked
about again, the clock goes on and nothing rings.

Keys are put into lines here as they are laid out at the prompt.

What a typed line means: by which names each option is chosen. Invariant: a line that could mean two options means none.
To one that is no option is said which rule forbids what it means, and which option is most like it. Nothing here knows a
rule: whoever follows the match says which one a move breaks.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import takewhile
from textwrap import wrap
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from truc_client.happenings import MatchWaits, MoveChoice, YourTurn
from truc_rules import KINDS, ArgShape
from truc_terminal.replay_model.board import ShownHand
from truc_terminal.screen.drawing import MatchLook, glyphs_of, short_label
from truc_terminal.screen.menu import MenuOption, menu
from truc_terminal.screen.wrapping import MOST_SAID, glued, said_again, unglued
from truc_words import Speech, joined, move_label, phrase_label, sign_label, typed_name

CHAT: Final = "chat"
_CUT, _RAISE, _CLAIM = "cut", "raise", "claim"
# Far more than a place in a pack has; int() refuses thousands.
_MOST_DIGITS: Final = 6
BETWEEN_KEYS: Final = 3
"""Columns between a label and the next key."""

NamesOf = Callable[[MoveChoice], Iterable[str]]


def unnumbered(turn: YourTurn, board: ShownHand) -> tuple[MoveChoice, ...]:
    """Return the options that are chosen by typing their lines."""
    counted = [choice for option in menu(turn, board) for choice in option.choices]
    return tuple(choice for choice in turn.options if choice not in counted)


def grouped(choices: Iterable[MoveChoice]) -> str:
    """Return move lines, those of one kind combined: `play 5e|7o`."""
    values: dict[str, list[str]] = {}
    for choice in choices:
        kind, _, value = choice.line.partition(" ")
        values.setdefault(kind, []).append(value)
    return ", ".join(f"{kind} {'|'.join(of_kind)}".rstrip() for kind, of_kind in values.items())


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS


def find_choice(turn: YourTurn, text: str, names: NamesOf) -> tuple[MoveChoice | None, int | None]:
    """Return the option that a line means, by its move line or one of its `names`; for `cut 12` also the place."""
    found = _named(turn, text, names)
    if found is not None:
        return found, None
    kind, _, place = plain_text(text).partition(" ")
    if kind == _CUT and _is_number(place):
        return _named(turn, kind, names), int(place)
    return None, None


def _named(turn: YourTurn, text: str, names: NamesOf) -> MoveChoice | None:
    """Return the option with this move line, else the only one with this name."""
    wanted = plain_text(text)
    by_line = [choice for choice in turn.options if plain_text(choice.line) == wanted]
    # Its move line first, which is one option's alone; a name may be that of several.
    found = by_line or [choice for choice in turn.options if wanted in set(map(plain_text, names(choice)))]
    return found[0] if len(found) == 1 else None


def plain_text(text: str) -> str:
    """Return a text as it is compared: without regard to case, extra spaces, and `?` or `!` at the end."""
    return " ".join(text.casefold().rstrip(" ?!").split())


def meanings(turn: YourTurn, meaning: Callable[[str], str]) -> Iterator[tuple[list[MoveChoice], str]]:
    """Yield the meanings of the options, each once, after the options that have it."""
    by_meaning: dict[str, list[MoveChoice]] = {}
    for choice in turn.options:
        by_meaning.setdefault(meaning(choice.line), []).append(choice)
    for told, choices in by_meaning.items():
        yield choices, told


_OF_CARDS: Final = ("play", "cover", "show")
_DEALING: Final = ("mask", "lock", "keys")
BY_PROGRAMS: Final = (*_DEALING, "opening")
"""What players' programs do by themselves where the seats deal among themselves."""
_WAITING: Final = {
    "rekey": "waiting_rekey",
    "sub": "waiting_sub",
    "opening": "waiting_opening",
    **dict.fromkeys(_DEALING, "waiting_dealing"),
}
SIDE_COMMANDS: Final = ("chat", "pause", "resume", "claim", "resign", "quit")
"""What may be typed beside the moves, and questions."""
_QUESTIONS: Final = ("? table", "? rules")


class OptionKey(NamedTuple):
    """An option: what to type for it, its label, and its move line; where it is several moves, what to type again."""

    typed: str
    label: str
    line: str


DrawTable = Callable[[int, int], Iterable[Text]]
"""Draws a table for a terminal of so many columns and rows."""


class Question(NamedTuple):
    """What may be typed now.

    Attributes:
        at: the position in the match asked about; None if the hand does not wait for this player.
        text: the question itself, else who is waited for; empty if nobody is.
        keys: the options that have a key.
        words: everything that may be typed, likeliest first, for completion.
        deadline_ms: how much time there is; None if there is no limit.
        draw: draws the table that stands above; None if there is none.
    """

    at: int | None = None
    text: str = ""
    keys: tuple[OptionKey, ...] = ()
    words: tuple[str, ...] = ()
    deadline_ms: int | None = None
    draw: DrawTable | None = None


Pose = Callable[[Question], None]


def option_label(choice: MoveChoice, board: ShownHand, look: MatchLook) -> str:
    """Return the label of an option on the screen."""
    return move_label(
        choice.line,
        choice.hints,
        look.faces.card,
        look.speech,
        answering=board.answering,
        players=look.names,
    )


def key_label(option: MenuOption, board: ShownHand, look: MatchLook) -> str:
    """Return the label of what has a key; of several moves what they have in common, with dots in place of the rest."""
    choice, *more = option.choices
    if not more:
        return option_label(choice, board, look)
    dots = glyphs_of(look.faces).left_out
    line, hints = (f"{_RAISE} {dots}", {}) if choice.kind == _RAISE else (choice.line, choice.hints)
    return move_label(line, hints, lambda _card: dots, look.speech, answering=board.answering)


def option_names(choice: MoveChoice, board: ShownHand, look: MatchLook) -> Iterator[str]:
    """Yield the names of an option besides its move line: as it is shown, with suits as symbols, letters or left out."""
    played, ask, stake = choice.line.partition(f" {_RAISE} ")
    kind, *cards = played.split()
    if kind == _CLAIM:
        yield " ".join(_claim_typed(choice, look))
    # Few keyboards have the symbols of suits, and every one has their letters.
    looks = [look.faces._replace(is_plain=is_plain) for is_plain in (False, True)]
    for faces in looks:
        label = option_label(choice, board, look._replace(faces=faces))
        yield label
        yield short_label(label)
        if cards and kind in _OF_CARDS:
            yield " ".join([kind, *map(faces.card, cards)]) + ask + stake
            yield " ".join([kind, *map(faces.rank, cards)]) + ask + stake
            yield short_label(label).replace(faces.card(cards[0]), faces.rank(cards[0]))


def _claim_typed(choice: MoveChoice, look: MatchLook) -> tuple[str, str]:
    """Return a claim as it is typed: the game's own word, else that of the player's language, and whom it is about.

    A player's name is one word here, so that none is cut where two begin alike.
    """
    word = look.speech.local.moves.get(_CLAIM) or look.speech.catalogue.typed[_CLAIM]
    seat = choice.line.removeprefix(f"{_CLAIM} ")
    names = dict(zip(map(str, range(len(look.names))), look.names, strict=True))
    return word, names.get(seat, seat)


def moves_typed(choices: Iterable[MoveChoice], board: ShownHand, look: MatchLook) -> str:
    """Return what may be typed for options, what names have in common once: `mandar jugar un siete|un ocho, truco`."""
    by_kind: dict[str, list[tuple[str, ...]]] = {}
    for choice in choices:
        short = short_label(option_label(choice, board, look))
        words = _claim_typed(choice, look) if choice.kind == _CLAIM else tuple(short.split())
        by_kind.setdefault(choice.kind, []).append(words)
    return ", ".join(map(_together, by_kind.values()))


def _together(names: Sequence[tuple[str, ...]]) -> str:
    """Return names that begin alike as one, from their first words that differ."""
    words = [*dict.fromkeys(names)]
    columns = zip(*(each[:-1] for each in words), strict=False) if len(words) > 1 else ()
    same = len([*takewhile(lambda column: len(set(column)) == 1, columns)])
    rest = "|".join(" ".join(each[same:]) for each in words)
    return " ".join([*words[0][:same], rest])


def talk_typed(look: MatchLook) -> Mapping[str, str]:
    """Return what each sign and phrase of the game means, by what is typed for it."""
    speech, typed = look.speech, look.speech.catalogue.typed
    signs = {
        f"{typed['sign']} {typed_name(word, 'sign', speech)}": sign_label(word, speech.lang, speech.words)
        for word in look.signs
    }
    phrases = {
        f"{typed['say']} {typed_name(phrase, 'phrase', speech)}": phrase_label(
            phrase, speech.lang, speech.words
        )
        for phrase in look.phrases
    }
    return signs | phrases


def commands_typed(commands: Iterable[str], speech: Speech) -> Iterator[str]:
    """Yield what is typed for commands, in the words of the player's language; a text follows `chat `."""
    for command in commands:
        asked, _, word = command.rpartition(" ")
        yield " ".join(filter(None, [asked, speech.catalogue.typed[word]])) + " " * (word == CHAT)


def awaited_text(waiting: MatchWaits, look: MatchLook) -> str:
    """Return who is waited for, and why."""
    seats = joined([look.names[seat] for seat in waiting.seats], look.speech)
    return look.speech.say(f"screen.{_WAITING.get(waiting.what, 'waiting')}", seats=seats)


def question(
    turn: YourTurn | None,
    board: ShownHand,
    look: MatchLook,
    awaited: str = "",
    *,
    asks_again: bool = False,
) -> Question:
    """Return the question that a turn asks, once more among some of its options; if there is none, who is waited for."""
    options = () if turn is None else turn.options
    moves = [
        word for choice in options for word in (choice.line, short_label(option_label(choice, board, look)))
    ]
    # In this order, as the first that begins like what is typed is suggested.
    words = tuple(
        dict.fromkeys(
            [*moves, *talk_typed(look), *commands_typed((*SIDE_COMMANDS, *_QUESTIONS), look.speech)]
        )
    )
    if turn is None or not turn.must:
        return Question(text=f"{awaited} >" if awaited else "", words=words)
    keys = tuple(
        OptionKey(
            option.key,
            key_label(option, board, look),
            # What stands for several moves is typed again, and asks among which.
            option.choices[0].line if len(option.choices) == 1 else option.key,
        )
        for option in menu(turn, board)
    )
    text = look.speech.say("screen.which" if asks_again else "screen.prompt", clock="")
    return Question(turn.at, text, keys, words, turn.deadline_ms)


def folded(keys: tuple[OptionKey, ...], width: int, height: int) -> list[list[OptionKey]]:
    """Return the keys in lines that fit a width, at least one in each.

    A label longer than a line goes on in the next one; if that takes more lines than the height, it is cut off instead,
    and if that is not enough, what is in brackets is left out of all.
    """
    lines = _lines([part for key in keys for part in _broken(key, width)], width)
    for shortened in (cut_to, _without_note):
        if len(lines) > height:
            lines = _lines([shortened(key, width) for key in keys], width)
    return lines


def _lines(keys: list[OptionKey], width: int) -> list[list[OptionKey]]:
    lines: list[list[OptionKey]] = []
    taken = 0
    for key in keys:
        needed = cell_len(key.typed) + cell_len(key.label) + 1 + BETWEEN_KEYS
        # The rest of a label begins a line, even where it would fit behind another key.
        if not lines or taken + needed > width or not key.typed.strip():
            lines.append([])
            taken = 0
        lines[-1].append(key)
        taken += needed
    return lines


def _broken(key: OptionKey, width: int) -> Iterator[OptionKey]:
    """Yield a key with the first line of its label, then the rest of the label, line by line."""
    first, *rest = unglued(wrap(glued(key.label), _room(key, width))) or [""]
    yield key._replace(label=first)
    for part in rest:
        yield key._replace(typed=" " * len(key.typed), label=part)


def cut_to(key: OptionKey, width: int) -> OptionKey:
    """Return a key with its label cut to the length of a line."""
    room = _room(key, width)
    if cell_len(key.label) <= room:
        return key
    return key._replace(label=key.label[: room - 1] + "…")


def _without_note(key: OptionKey, width: int) -> OptionKey:
    """Return a key without what its label says in brackets, cut to the length of a line."""
    return cut_to(key._replace(label=short_label(key.label)), width)


def _room(key: OptionKey, width: int) -> int:
    return max(1, width - cell_len(key.typed) - 1 - BETWEEN_KEYS)


_LIKE: Final = 0.6  # of what two texts have in common; below it the nearest option is a guess

WhyNot = Callable[[str], str | None]
"""What gives the key of the rule that a move line of the player breaks."""


def mistake(text: str, turn: YourTurn, board: ShownHand, look: MatchLook, why_not: WhyNot) -> str:
    """Return the sentence for a line that is none of the options of a turn."""
    say, got = look.speech.say, said_again(text)
    rule = next(filter(None, map(why_not, _lines_meant(text, board, look))), None)
    if rule is not None:
        told = say("screen.forbidden", got=got, why=say(f"forbidden.{rule}"))
    elif menu(turn, board):
        told = say("screen.expected", got=got)
    else:
        told = say("screen.expected_move", got=got, moves=moves_typed(turn.options, board, look))
    nearest = _nearest(text, turn.options, board, look)
    if nearest is None:
        return told
    return say("screen.nearest", told=told, option=short_label(option_label(nearest, board, look)))


def _lines_meant(text: str, board: ShownHand, look: MatchLook) -> Iterator[str]:
    """Yield the move lines of the game that a text may mean, whether or not they are options now."""
    wanted = plain_text(text)
    # The number of a card is no key while it cannot be played: whoever types it wants to know why.
    yield from (f"play {card}" for place, card in enumerate(board.own, 1) if wanted == str(place))
    yield wanted
    for line in _lines_named(look):
        if wanted in map(plain_text, option_names(MoveChoice(line, line.split()[0], {}), board, look)):
            yield line


def _lines_named(look: MatchLook) -> Iterable[str]:
    """Return the lines that have names of their own: the words of the game, moves of one word, the cards."""
    alone = (str(kind) for kind, shape in KINDS.items() if shape is ArgShape.NONE)
    cards = (f"play {card}" for card in look.pack)
    return dict.fromkeys((*look.speech.local.moves, *alone, *cards))


def _nearest(
    text: str, options: Iterable[MoveChoice], board: ShownHand, look: MatchLook
) -> MoveChoice | None:
    """Return the option with the name most like a text, if one is."""
    names = {
        plain_text(name): choice
        for choice in options
        for name in (choice.line, *option_names(choice, board, look))
    }
    found = get_close_matches(plain_text(text[:MOST_SAID]), names, n=1, cutoff=_LIKE)
    return names[found[0]] if found else None
