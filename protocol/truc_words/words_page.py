"""The words of one game as a page: every move it has, as the game says it and as the reader does."""

from collections.abc import Iterator

from truc_rules import Kind, Variant
from truc_words.moves import move_meaning, own_label, plain_label
from truc_words.speech import Speech, phrase_label, sign_label

_BETWEEN_HANDS = (Kind.PAUSE, Kind.RESUME, Kind.RESIGN)
# a move that takes a value is shown with an example
_SAID = ("points 33", "good", "silent")
_FLOR = ("flor", "flor-fold", "contraflor", "contraflor-rest")


def words_page(variant: Variant, lang: str) -> str:
    """Return the words of a game as Markdown.

    Raises:
        LanguageError: There is no catalogue for the language.
    """
    speech = Speech(lang, variant.words)
    lines = [f"## {speech.catalogue.name}: {variant.name}", ""]
    names = speech.local.names.get(variant.name)
    lines += [f"*{', '.join(names)}*", ""] if names else []
    said = speech.catalogue.said
    lines += [f"| {said['head_move']} | {said['head_words']} | {said['head_meaning']} |", "|---|---|---|"]
    lines += [_row(*move, speech) for move in _moves(variant)]
    lines += ["", *_talk(variant, lang)] if variant.signals or variant.phrases else []
    return "\n".join(lines) + "\n"


def _row(line: str, answering: str, speech: Speech) -> str:
    own, plain = (
        own_label(line, speech, answering=answering),
        plain_label(line, str, speech, answering=answering),
    )
    shown = own if own == plain else f"**{own}**: {plain}"
    to = speech.catalogue.answers.get(answering)
    move = f"`{line}`, {to}" if to else f"`{line}`"
    return f"| {move} | {shown} | {move_meaning(line, speech, answering=answering)} |"


def _talk(variant: Variant, lang: str) -> Iterator[str]:
    for word in variant.signals.vocabulary if variant.signals else ():
        yield f"* `sign {word}`: {sign_label(word, lang, variant.words)}"
    for phrase in variant.phrases:
        yield f"* `say {phrase}`: {phrase_label(phrase, lang, variant.words)}"


def _moves(variant: Variant) -> Iterator[tuple[str, str]]:
    """Yield the moves of a game, with what they answer."""
    yield from _before_play(variant)
    yield f"play {variant.pack[0]}", ""
    if variant.cover_from_trick:
        yield f"cover {variant.pack[0]}", ""
    if variant.blind:
        yield "blind 0", ""
    for stake in _stakes(variant):
        yield f"raise {stake}", ""
    if variant.remainder == "counter":
        yield "raise rest", "rest"
    yield "accept", "stake"
    yield "decline", "stake"
    if variant.concede != "vs_ask":
        yield "concede", ""
    yield from _side_bets(variant)
    if variant.signals and variant.signals.orders == "binding":
        yield from ((f"order {value}", "") for value in (variant.pack[0][:-1], "low", "high", "leave"))
    if variant.show == "owner":
        yield f"show {variant.pack[0]}", ""
    yield from ((str(kind), "") for kind in _BETWEEN_HANDS)


def _before_play(variant: Variant) -> Iterator[tuple[str, str]]:
    if variant.short_deal:
        yield from (("cut", ""), ("tap", ""), ("deal 3", ""), ("deal 1", ""))
    if variant.redeal is not None:
        yield from (("redeal", ""), ("stand", ""), ("accept", "redeal"), ("decline", "redeal"))
    if variant.last_point is not None:
        yield from (("accept", "last-point"), ("decline", "last-point"))


def _stakes(variant: Variant) -> Iterator[str]:
    match variant.ladder:
        case tuple() as stakes:
            yield from map(str, stakes[1:])
        case "trut":
            yield "trut"
        case "game":
            pass
        case _:
            yield "2"
    if variant.remainder != "none":
        yield "rest"


def _side_bets(variant: Variant) -> Iterator[tuple[str, str]]:
    if variant.envido is not None:
        yield from (
            (("envido", ""), ("envido", "envido")) if variant.envido.max_envido > 1 else (("envido", ""),)
        )
        yield from (("real-envido", ""),) if variant.envido.max_real else ()
        yield "falta-envido", ""
        yield from ((line, "") for line in _SAID if variant.envido.settle == "said")
        yield from (("accept", "envido"), ("decline", "envido"))
    if variant.flor is not None:
        yield from ((line, "") for line in (_FLOR if variant.flor.challenge else _FLOR[:1]))
        if variant.flor.challenge:
            yield from (("accept", "flor"), ("decline", "flor"))
        if variant.flor.claims:
            yield "claim 1", ""
