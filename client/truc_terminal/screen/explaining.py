"""What `?` answers: what the options mean, one move with its rule, and any chapter of the rules of the game.

All of it is in the player's language. Nothing here knows a rule: the page comes with the game.

And the terms of a table: in one line for people, and in full by the names of the table options.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from truc_client.happenings import MoveChoice, YourTurn
from truc_protocol.messages import TableState
from truc_protocol.records import BLIND
from truc_protocol.setup import Opts, read_opts
from truc_rules import VariantError, preset
from truc_terminal.replay_model.board import ShownHand
from truc_terminal.screen.drawing import MatchLook
from truc_terminal.screen.questions import SIDE_COMMANDS, meanings, moves_typed, talk_typed
from truc_terminal.screen.wrapping import said_again
from truc_words import Speech, TalkKind, move_meaning, time_label, typed_name
from truc_words.rules_page import Chapter

TABLE: Final = "table"
_RULES: Final = "rules"
_ANSWERS: Final = ("accept", "decline")
_KINDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "deal": ("cut", "tap", "deal", "redeal", "stand", "blind"),
        "tricks": ("play", "cover"),
        "stake": ("raise", "accept", "decline", "concede"),
        "envido": ("envido", "real-envido", "falta-envido", "points", "good", "silent"),
        "flor": ("flor", "flor-fold", "contraflor", "contraflor-rest", "claim"),
        "talk": ("order", "sign", "say"),
        "table": ("show",),
    }
)
"""The moves that each chapter of the rules is about."""
_ANSWERED: Final[Mapping[str, str]] = MappingProxyType(
    {"envido": "envido", "flor": "flor", "redeal": "deal", "last-point": "last_point"}
)
"""The chapter about the answer to each kind of offer, if it is not the one about the stake."""


_SECOND: Final = 1000
_AIMS: Final = ("target", "match")
_SAID: Final = (*_AIMS, "decision_ms", "bank_ms", "guests", "mode")
"""The options that have words."""


class AskedAbout(NamedTuple):
    """What a player asks about: the text typed, the option it means, if any, and the table."""

    typed: str
    choice: MoveChoice | None
    board: ShownHand

    @property
    def line(self) -> str:
        """The move line asked about; else the text as typed."""
        return self.typed if self.choice is None else self.choice.line


def options_explained(turn: YourTurn, board: ShownHand, look: MatchLook) -> Iterator[str]:
    """Yield the signs and phrases, what else may be typed, and what the options mean, those of one kind combined."""
    speech, answered = look.speech, board.answering
    yield from map(": ".join, talk_typed(look).items())
    yield speech.say("screen.explain_end")
    yield speech.say("screen.explain_more")
    # The options come last: where there is little room above the table, they are what stays in sight.
    for choices, meaning in meanings(turn, lambda line: move_meaning(line, speech, answering=answered)):
        yield f"{moves_typed(choices, board, look)}: {meaning}"


def explained(subject: AskedAbout, look: MatchLook, rules: Mapping[str, Chapter]) -> Iterator[str]:
    """Yield what there is to know about a subject; if it is none, what may be asked about."""
    said = look.speech.catalogue.screen
    headings = ", ".join(chapter.heading for chapter in rules.values())
    if subject.typed == _RULES:
        yield said["rule_chapters"].format(chapters=headings)
        return
    kind = subject.line.split()[0]
    answered = subject.board.answering
    chapter = _chapter_of(kind, answered)
    is_move = kind in look.speech.catalogue.moves and (subject.choice is not None or chapter in rules)
    if is_move:
        name = moves_typed([subject.choice], subject.board, look) if subject.choice else subject.line
        yield f"{name}: {move_meaning(subject.line, look.speech, answering=answered)}"
    else:
        found = ((name, told.heading.casefold()) for name, told in rules.items())
        chapter = next(
            (name for name, heading in found if subject.typed == name or subject.typed in heading), None
        )
    if chapter is not None and chapter in rules:
        yield from ("", rules[chapter].heading, *rules[chapter].text.splitlines())
    elif subject.typed in SIDE_COMMANDS:
        yield said["explain_end"]
    elif not is_move:
        yield said["no_subject"].format(got=said_again(subject.typed), chapters=headings)


def _chapter_of(kind: str, answered: str) -> str | None:
    if kind in _ANSWERS and answered in _ANSWERED:
        return _ANSWERED[answered]
    return next((chapter for chapter, kinds in _KINDS.items() if kind in kinds), None)


def word_expected(got: str, words: tuple[str, ...], what: TalkKind, speech: Speech) -> str:
    """Return the sentence for a word that is no sign or phrase of this game."""
    said = speech.catalogue.screen
    key = "words_to_sign" if what == "sign" else "words_to_say"
    named = ", ".join(typed_name(word, what, speech) for word in words)
    expected = said[key].format(words=named) if words else said[f"no_{what}s"]
    return said["no_such_word"].format(got=said_again(got), expected=expected) if got and words else expected


def terms_line(state: TableState, speech: Speech) -> str:
    """Return the game, how far it goes, the time for a move and who signs; then what else is not as usual."""
    opts = read_opts(state.opts)
    # What is as usual nobody needs to read before they sit down; `? table` has every term.
    unusual = dict(set(opts._asdict().items()) - set(Opts()._asdict().items()))
    chosen = [
        f"{name}={value}" for name, value in sorted({**unusual, **state.options}.items()) if name not in _SAID
    ]
    signed = speech.say("screen.guests_admitted" if opts.guests else "screen.everybody_signs")
    parts = (speech.say("screen.game_for", game=state.variant, n=state.n), *_goal(state, speech))
    mode = [speech.say("screen.blind_terms")] if state.mode == BLIND else []
    return ", ".join((*parts, _pace(opts, speech), signed, *mode, *chosen))


def _goal(state: TableState, speech: Speech) -> Iterator[str]:
    """Yield what wins a game and how many games make the match, as far as this client knows the game."""
    try:
        rules = preset(state.variant)
    except VariantError:  # a game of the server's own: its rules come with the match
        return
    target, games = (
        int(state.options.get(name, own))
        for name, own in zip(_AIMS, (rules.scoring.target, rules.match), strict=True)
    )
    counted = "unit" if rules.scoring.points_per_unit else "point"
    yield speech.say("screen.to_target", target=Speech(speech.lang, rules.words).counted(counted, target))
    if games > 1:
        yield speech.say("screen.best_of", n=games)


def _pace(opts: Opts, speech: Speech) -> str:
    if not opts.decision_ms:
        return speech.say("screen.no_hurry")
    values = {"time": time_label(opts.decision_ms / _SECOND), "bank": time_label(opts.bank_ms / _SECOND)}
    return speech.say("screen.pace_with_bank" if opts.bank_ms else "screen.pace", **values)


def terms_in_full(state: TableState, speech: Speech) -> str:
    """Return every term, by the names of the table options."""
    mode = {"mode": state.mode} if state.mode == BLIND else {}
    terms = read_opts(state.opts)._asdict()
    chosen = {"game": state.variant, "seats": state.n, **mode, **terms, **state.options}
    options = ", ".join(f"{name}={value}" for name, value in chosen.items())
    return speech.say("screen.table_options", options=options)
