"""The bets besides the main stake, in sentences: envido, flor and the duels of pica-pica."""

from itertools import product
from typing import Final, assert_never

from truc_rules import Envido, Flor, Variant
from truc_words import local_words
from truc_words.rules_text.wording import points, times

_E, _R, _F = "envido", "real envido", "falta envido"
_WORTH: Final = {_E: 2, _R: 3}
_PER_FLOR: Final = 3
_FOLD: Final = 1
_CLAIM_FAILED: Final = 1

_NUMBERS: Final = "an ace counts 1, 2 to 7 count as they are, and all other cards nothing"
_ENVIDO: Final = (
    "Envido is a bet on the best two cards of one suit, of which there is one contest in a hand. A player may call it on"
    " its turn before its first card.",
    "It comes first: a player of the side that is asked for the first higher stake, and has not played a card yet, may"
    " call envido instead of answering. When envido is settled, the same raise is answered. Once a higher stake is accepted"
    " there is no envido any more.",
)
_SCORED: Final = (
    "The points are scored at once. The winner opens the cards that make the value when the hand is over, unless they"
    " were played or no value was said."
)
_VALUE: Final = (
    f"Two cards of one suit count 20 and both their numbers: {_NUMBERS}. Of three of one suit the best two count. Without"
    " such a pair the highest number counts alone."
)
_SAYING: Final = (
    "Values are said from eldest in seat order. A player says its value, which must be true and higher than the best so"
    " far; or *good*, which gives the bet up for its whole side; or stays silent, if its partner is best so far or has"
    " yet to speak for the first time.",
    "A silent player whose side has been beaten in the meantime speaks again when the others have spoken: higher, or"
    " good. The highest value wins; of equal ones that of the earlier seat, unless it stayed silent: when it"
    " speaks again, an equal value is not enough.",
)
_AFTER_FLOR: Final = (
    "A flor makes envido calls void that nobody has answered, and none is possible after it; an envido that was settled"
    " before it stands."
)
_CONTRAFLOR: Final = (
    "When one flor is said, no card is played until all others have spoken, from there in order of play: *flor*; or, if the"
    " other side has said one, *con flor me achico*, which gives up for the side, *contraflor*, or *contraflor al resto*.",
    "The other side's holders answer a contraflor with *con flor quiero*, *con flor me achico* or *contraflor al resto*, and"
    " the last of these with one of the first two. A holder who has not spoken when it ends counts as if it had.",
)
_COMPARED: Final = (
    "whenever flores are compared; not if only one side has them, and not after *con flor me achico*. The best flor wins;"
    " of equal ones that of the earlier seat."
)
_FLORES_SCORED: Final = (
    "The points are scored at once. All flores that were said are opened when the hand is over."
)
_KIND: Final = {
    "suit": "three cards of one suit",
    "run": "three cards of one suit that follow each other (1 to 7, then 10, 11, 12)",
}
_ENDS: Final = {
    "immediate": "A duel that wins the game ends it; the others are not played.",
    "hand_end": "All three are played, also if one of them has brought a side far enough.",
}


def envido(variant: Variant) -> tuple[str, ...]:
    """Return the whole contest of envido."""
    rule = variant.envido
    if rule is None:
        return ()
    return (
        *_ENVIDO,
        f"{_calls(rule)} {_answers(variant)}",
        _VALUE,
        *_SAYING,
        _SCORED,
        _falta(rule, variant.scoring.target),
        *_fold_bonus(variant, rule.fold_bonus),
    )


def _calls(rule: Envido) -> str:
    real = f"at most {times(rule.max_real)}" if rule.max_real else "never"
    return (
        "The calls are envido for 2, real envido for 3 and falta envido. They are made in this order, by the sides in"
        f" turn: envido at most {times(rule.max_envido)}, real envido {real}, falta envido once."
    )


def _answers(variant: Variant) -> str:
    moves = local_words(variant.words).moves
    own = moves.get("decline-envido")
    also = "" if own in (None, moves.get("decline")) else f" (players also say *{own}*)"
    return (
        f"Any player of the other side answers: *quiero* accepts, *no quiero*{also} declines, a call that is left raises."
        " Either answer closes envido for the hand."
    )


def _falta(rule: Envido, target: int) -> str:
    half = target // 2
    lacks = f"what the side with more points lacks to {target} when it is accepted, at least 1"
    match rule.falta:
        case "leader":
            return f"Falta envido is worth {lacks}."
        case "malas-game":
            return f"Falta envido wins the game while no side has more than {half}; otherwise it is worth {lacks}."
        case "malas-15":
            return (
                f"While no side has more than {half}, falta envido is worth what the side with more points lacks to {half},"
                f" at least 1; otherwise {lacks}."
            )
        case _:
            assert_never(rule.falta)


def _fold_bonus(variant: Variant, bonus: int) -> tuple[str, ...]:
    if not bonus:
        return ()
    or_flor = " or said flor" if variant.flor is not None else ""
    return (
        f"Whoever gives the hand up unasked, on its turn before its own first card, pays {points(bonus)} more, if in this"
        f" hand nobody has called envido{or_flor} and no higher stake was accepted. Declining a raise pays nothing more.",
    )


def envido_rows(variant: Variant) -> tuple[tuple[str, ...], ...]:
    """Return what every sequence of calls is worth."""
    rule = variant.envido
    if rule is None:
        return ()
    counts = product(range(rule.max_envido + 1), range(rule.max_real + 1), range(2))
    sequences = [(_E,) * few + (_R,) * real + (_F,) * falta for few, real, falta in counts]
    heads = ("calls", "quiero", "no quiero")
    return (heads, *(_sequence(calls) for calls in sorted(sequences, key=_rank) if calls))


def _rank(calls: tuple[str, ...]) -> tuple[int, tuple[int, ...]]:
    return len(calls), tuple((_E, _R, _F).index(call) for call in calls)


def _sequence(calls: tuple[str, ...]) -> tuple[str, str, str]:
    # quiero: the sum of all calls, or falta in its place; no quiero: the sum of those before the last, 1 if none
    wanted = "falta" if calls[-1] == _F else str(sum(_WORTH[call] for call in calls))
    return ", ".join(calls), wanted, str(sum(_WORTH[call] for call in calls[:-1]) or 1)


def flor(variant: Variant) -> tuple[str, ...]:
    """Return the whole contest of flores."""
    rule = variant.flor
    if rule is None:
        return ()
    return (
        f"A flor is {_KIND[rule.kind]}. It counts 20 and all three numbers: {_NUMBERS}.",
        *(_beside_envido() if variant.envido is not None else _without_envido()),
        _FLORES_SCORED,
        *_claims(rule),
    )


def _beside_envido() -> tuple[str, ...]:
    said = f"Values are said as for envido {_COMPARED}"
    return (_declared(" or anybody's envido call"), _AFTER_FLOR, *_CONTRAFLOR, said)


def _without_envido() -> tuple[str, ...]:
    return (_declared(""), *_CONTRAFLOR, f"Values are said {_COMPARED}", *_SAYING)


def _declared(or_call: str) -> str:
    return (
        f"Whoever holds one has to say so: on its turn before its first card, or while the other side's raise{or_call} waits for"
        " an answer. Nobody says flor without one. A first card played in silence closes it."
    )


def _claims(rule: Flor) -> tuple[str, ...]:
    if not rule.claims:
        return ()
    return (
        "*Pido flor*: a player may claim that an opponent who has played its first card and said no flor has kept one"
        " quiet; each opponent is claimed once in a hand, by whomever, and only until the hand is over.",
        f"The claim is settled when the hand is over, before the hand is scored: {_PER_FLOR} for the claimer's side if it is"
        f" so; otherwise {_CLAIM_FAILED} for the opponent's.",
        f"The opponent opens its flor, or{_disproof(rule)}.",
        f"If all three cards of a flor kept quiet were played, the other side scores {_PER_FLOR} without a claim.",
        "Claims are settled in the order in which they were made; then flores that were kept quiet and played without a claim,"
        " from eldest in order of play; then the hand is scored. Where the game ends at once with the target, what comes after"
        " that is not scored.",
    )


def _disproof(rule: Flor) -> str:
    return (
        " two cards of different suits" if rule.kind == "suit" else " the cards which prove that it has none"
    )


def flor_rows(variant: Variant) -> tuple[tuple[str, ...], ...]:
    """Return what every end of the contest is worth."""
    if variant.flor is None:
        return ()
    each = f"{_PER_FLOR} for each flor"
    lacks = f"what the side with more points lacks to {variant.scoring.target}, and {each} of both sides"
    return (
        ("how it ends", "who scores", "how much", "one flor against one"),
        ("only one side has flores", "that side", each, ""),
        ("nobody challenges", "the best flor", f"{each} of both sides", str(2 * _PER_FLOR)),
        ("con flor me achico", "the other side", f"{each} of that side, and {_FOLD}", str(_PER_FLOR + _FOLD)),
        ("contraflor accepted", "the best flor", f"{each} of both sides", str(2 * _PER_FLOR)),
        ("contraflor al resto accepted", "the best flor", lacks, f"that and {2 * _PER_FLOR}"),
    )


def pica(variant: Variant) -> tuple[str, ...]:
    """Return when hands are duels, and how they are played."""
    rule = variant.pica
    if rule is None:
        return ()
    won = (
        "" if variant.remainder == "none" else " Whoever wins a duel for the remainder has the game at once."
    )
    return (
        f"With six players every other hand of a game, from the second on, is *pica-pica*: three duels, if a side has"
        f" {points(rule.min)} or more and no side has more than {rule.max}. Otherwise it is an ordinary hand, which takes its"
        f" place.",
        "All have three cards. First eldest plays against the seat across, the third after it; then the next seat against"
        " the one across from that; then the third. In each duel the first named leads and is eldest.",
        "A duel is a hand of its own: only these two play, ask and answer, with their own stake and side bets. What it"
        f" brings is scored for the sides before the next duel begins. {_ENDS[variant.scoring.end_check]}{won}",
    )
