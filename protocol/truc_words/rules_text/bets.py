"""The bets besides the main stake, in sentences: envido, flor and the duels of pica-pica."""

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import Final

from truc_rules import Envido, Variant
from truc_words import local_words
from truc_words.primer import counted_pieces
from truc_words.rules_text.wording import Wording

_E, _R, _F = "envido", "real envido", "falta envido"
_WORTH: Final = {_E: 2, _R: 3}
_PER_FLOR: Final = 3
_FOLD: Final = 1
_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "accept": "quiero",
        "decline": "no quiero",
        "good": "son buenas",
        "flor": "flor",
        "flor-fold": "con flor me achico",
        "contraflor": "contraflor",
        "contraflor-rest": "contraflor al resto",
        "accept-flor": "con flor quiero",
        "claim": "pido flor",
    }
)
"""What is said in these contests where a game has no words of its own."""


def _word(variant: Variant, move: str) -> str:
    return local_words(variant.words).moves.get(move, _WORDS[move])


def envido(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return the whole contest of envido."""
    rule = variant.envido
    if rule is None:
        return ()
    return (
        say("envido.bet"),
        say("envido.first" if rule.settle == "said" else "envido.first_by_cards"),
        f"{_calls(rule, say)} {_answers(variant, say)}",
        say("envido.value"),
        *_pieces(variant, "envido", say),
        *((*_saying(variant, say), say("envido.scored")) if rule.settle == "said" else _by_cards(say)),
        say(f"falta.{rule.falta}", target=variant.scoring.target, half=variant.scoring.target // 2),
        *_fold_bonus(variant, rule.fold_bonus, say),
    )


def _calls(rule: Envido, say: Wording) -> str:
    envidos = say.times(rule.max_envido)
    if not rule.max_real:
        return say("envido.calls_no_real", envidos=envidos)
    return say("envido.calls", envidos=envidos, reals=say.times(rule.max_real))


def _answers(variant: Variant, say: Wording) -> str:
    return say("envido.answers", accept=_word(variant, "accept"), decline=_word(variant, "decline"))


def _by_cards(say: Wording) -> tuple[str, ...]:
    return (say("envido.hand_end"), say("envido.declined"))


def _saying(variant: Variant, say: Wording) -> tuple[str, ...]:
    return (say("envido.saying", good=_word(variant, "good")), say("envido.silent"))


def _fold_bonus(variant: Variant, bonus: int, say: Wording) -> tuple[str, ...]:
    key = "envido.fold_bonus" if variant.flor is None else "envido.fold_bonus_flor"
    return (say(key, points=say.points(bonus)),) if bonus else ()


def envido_rows(variant: Variant, say: Wording) -> tuple[tuple[str, ...], ...]:
    """Return what every sequence of calls is worth."""
    rule = variant.envido
    if rule is None:
        return ()
    counts = product(range(rule.max_envido + 1), range(rule.max_real + 1), range(2))
    sequences = [(_E,) * few + (_R,) * real + (_F,) * falta for few, real, falta in counts]
    heads = (say("envido_worth.calls"), _word(variant, "accept"), _word(variant, "decline"))
    return (heads, *(_sequence(calls) for calls in sorted(sequences, key=_rank) if calls))


def _rank(calls: tuple[str, ...]) -> tuple[int, tuple[int, ...]]:
    return len(calls), tuple((_E, _R, _F).index(call) for call in calls)


def _sequence(calls: tuple[str, ...]) -> tuple[str, str, str]:
    # rules.md 8.4: accepted, the sum of all calls, or falta in its place; declined, the sum of those before
    # the last, 1 if there are none
    wanted = "falta" if calls[-1] == _F else str(sum(_WORTH[call] for call in calls))
    return ", ".join(calls), wanted, str(sum(_WORTH[call] for call in calls[:-1]) or 1)


def flor(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return the whole contest of flores."""
    rule = variant.flor
    if rule is None:
        return ()
    beside = "" if variant.envido is None else "_envido"
    fold, rest = _word(variant, "flor-fold"), _word(variant, "contraflor-rest")
    contraflor = _word(variant, "contraflor")
    challenged = (
        say("flor.round", flor=_word(variant, "flor"), fold=fold, contraflor=contraflor, rest=rest),
        say("flor.answered", accept=_word(variant, "accept-flor"), fold=fold, rest=rest),
        say(f"flor.compared{beside}", fold=fold),
    )
    return (
        say(f"flor.{rule.kind}"),
        *_pieces(variant, "flor", say),
        *((say("flor.reserved"),) if rule.reserved and variant.counts_by_turn_up else ()),
        say(f"flor.declared{beside}"),
        *((say("flor.voids_envido"),) if beside else ()),
        *(challenged if rule.challenge else (say("flor.round_plain"), say(f"flor.compared_plain{beside}"))),
        *(() if beside else _saying(variant, say)),
        say("flor.scored"),
        *(_claims(variant, rule.kind, say) if rule.claims else ()),
    )


def _pieces(variant: Variant, contest: str, say: Wording) -> tuple[str, ...]:
    rule = variant.turnup
    has_pieces = rule is not None and bool(rule.pieces)
    return (say(f"{contest}.pieces", numbers=counted_pieces(rule)),) if rule and has_pieces else ()


def _claims(variant: Variant, kind: str, say: Wording) -> tuple[str, ...]:
    claim = _word(variant, "claim")
    return (
        say("flor.claim", claim=claim[:1].upper() + claim[1:]),
        say("flor.claim_settled"),
        say(f"flor.proof_{'pieces' if variant.counts_by_turn_up else kind}"),
        say("flor.quiet"),
        say("flor.claim_order"),
    )


def flor_rows(variant: Variant, say: Wording) -> tuple[tuple[str, ...], ...]:
    """Return what every end of the contest is worth."""
    rule = variant.flor
    if rule is None:
        return ()
    owns = rule.pays == "own"
    best, both = say("flor_worth.best"), say("flor_worth.own" if owns else "flor_worth.both")
    lacks = say("flor_worth.lacks_own" if owns else "flor_worth.lacks", target=variant.scoring.target)
    fold, rest = _word(variant, "flor-fold"), _word(variant, "contraflor-rest")
    contraflor = say("flor_worth.contraflor", contraflor=_word(variant, "contraflor"))
    two = _PER_FLOR if owns else 2 * _PER_FLOR
    unchallenged = (
        tuple(say(f"flor_worth.{head}") for head in ("ends", "who", "much", "one")),
        (say("flor_worth.one_side"), say("flor_worth.that_side"), say("flor_worth.each"), ""),
    )
    if not rule.challenge:
        return (*unchallenged, (say("flor_worth.both_sides"), best, both, str(two)))
    return (
        *unchallenged,
        (say("flor_worth.no_challenge"), best, both, str(two)),
        (fold, say("flor_worth.other_side"), say("flor_worth.folded"), str(_PER_FLOR + _FOLD)),
        (contraflor, best, both, str(two)),
        (say("flor_worth.rest", rest=rest), best, lacks, say("flor_worth.that_and", points=two)),
    )


def pica(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return when hands are duels, and how they are played."""
    rule = variant.pica
    if rule is None:
        return ()
    rest = () if variant.remainder == "none" else (say("pica.rest"),)
    duel = (say("pica.duel"), say(f"pica.{variant.scoring.end_check}"), *rest)
    return (
        say("pica.when", least=say.points(rule.min), most=rule.max),
        say("pica.who"),
        " ".join(duel),
    )
