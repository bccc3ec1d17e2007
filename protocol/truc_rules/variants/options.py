"""Table options: what a table may change in a preset that has the machine for it (rules.md 14b)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, Literal

from truc_rules.errors import UnknownOptionError, VariantError, nearest_hint
from truc_rules.seats import SEAT_COUNTS
from truc_rules.variants.presets import FAMILIES, ORDERS
from truc_rules.variants.variant import Envido, Flor, Pica, Redeal, Variant

Setting = int | str
EndCheck = Literal["immediate", "hand_end"]

_MATCHES = (1, 3, 5)
_SWITCH = ("on", "off")
_PICA = Pica(min=5, max=20)
_FLOR = Flor(kind="suit", claims=True)


def with_options(variant: Variant, options: Mapping[str, Setting]) -> Variant:
    """Return `variant` with table options set.

    Raises:
        VariantError: No such option, not one for this variant, or a value it does not take.
    """
    changed = variant
    for name, value in options.items():
        changed = _option(changed, name)(changed, value)
    return changed


def _option(variant: Variant, name: str) -> Callable[[Variant, Setting], Variant]:
    if name not in _OPTIONS:
        like = nearest_hint(name, TABLE_OPTIONS) or f": one of {', '.join(TABLE_OPTIONS)}"
        raise UnknownOptionError(f"{name}: expected an option{like}")
    return _OPTIONS[name]


def _reveal(variant: Variant, value: Setting) -> Variant:
    _check("reveal", value, ("hand", "match"))
    return replace(variant, reveal="match" if value == "match" else "hand")


def _end_check(variant: Variant, value: Setting) -> Variant:
    _check("end_check", value, ("immediate", "hand_end"))
    when: EndCheck = "hand_end" if value == "hand_end" else "immediate"
    return replace(variant, scoring=replace(variant.scoring, end_check=when))


def _match(variant: Variant, value: Setting) -> Variant:
    _check("match", value, _MATCHES)
    return replace(variant, match=int(value))


def _target(variant: Variant, value: Setting) -> Variant:
    if not isinstance(value, int) or value < 1:
        raise VariantError(f"target: expected a number of points, got {value!r}")
    return replace(variant, scoring=replace(variant.scoring, target=value))


def _order(variant: Variant, value: Setting) -> Variant:
    # the cycle of a card that is turned up names the ranks of this very pack
    fitting = [
        name
        for name in FAMILIES.get(variant.words, ())
        if variant.turnup is None or ORDERS[name][0] == variant.pack
    ]
    _check("order", value, fitting)
    pack, order = ORDERS[str(value)]
    return replace(variant, pack=pack, order=order)


def _ladder(variant: Variant, value: Setting) -> Variant:
    if isinstance(variant.ladder, tuple):
        raise VariantError(f"ladder: expected a variant whose stakes are not a list, got {variant.name}")
    if variant.alternate != "no":
        reason = "after an accepted ask either side may ask again (alternate no)"
        raise VariantError(f"ladder: expected a variant in which {reason}, got {variant.name}")
    match value:
        case "x2" | "+2" | "any":
            return replace(variant, ladder=value)
        case _:
            raise VariantError(f"ladder: expected x2, +2 or any, got {value!r}")


def _redeals(variant: Variant, value: Setting) -> Variant:
    if variant.redeal is None:
        raise VariantError(f"redeals: expected a variant that has redeals, got {variant.name}")
    if value == 0:
        return replace(variant, redeal=None)
    if isinstance(value, int):
        return replace(variant, redeal=Redeal(variant.redeal.consent, value))
    if value == "pack":
        return replace(variant, redeal=Redeal(variant.redeal.consent, "pack"))
    raise VariantError(f"redeals: expected a number or pack, got {value!r}")


def _pica(variant: Variant, value: Setting) -> Variant:
    _check("pica", value, _SWITCH)
    if variant.envido is None or max(SEAT_COUNTS) not in variant.players:
        raise VariantError(f"pica: expected a game of six with envido, got {variant.name}")
    return replace(variant, pica=_PICA if value == "on" else None)


def _flor(variant: Variant, value: Setting) -> Variant:
    _check("flor", value, _SWITCH)
    _with_envido("flor", variant)
    # a game with a flor of its own keeps it
    return replace(variant, flor=(variant.flor or _FLOR) if value == "on" else None)


def _falta(variant: Variant, value: Setting) -> Variant:
    envido = _with_envido("falta", variant)
    match value:
        case "leader" | "malas-game" | "malas-15":
            return replace(variant, envido=replace(envido, falta=value))
        case _:
            raise VariantError(f"falta: expected leader, malas-game or malas-15, got {value!r}")


def _fold_bonus(variant: Variant, value: Setting) -> Variant:
    envido = _with_envido("fold_bonus", variant)
    _check("fold_bonus", value, (0, 1))
    return replace(variant, envido=replace(envido, fold_bonus=int(value)))


def _with_envido(name: str, variant: Variant) -> Envido:
    if variant.envido is None:
        raise VariantError(f"{name}: expected a game with envido, got {variant.name}")
    return variant.envido


def _cover_from_trick(variant: Variant, value: Setting) -> Variant:
    _check("cover_from_trick", value, (0, 2))
    # rules.md 9; 18.8: a covered card still counts for an envido that is settled by all cards
    if variant.envido is None or variant.envido.settle == "said":
        _check_brazilian("cover_from_trick", variant)
    return replace(variant, cover_from_trick=int(value))


def _blind(variant: Variant, value: Setting) -> Variant:
    _check("blind", value, _SWITCH)
    _check_brazilian("blind", variant)
    return replace(variant, blind=value == "on")


def _check_brazilian(name: str, variant: Variant) -> None:
    # rules.md 9: only in Brazil do partners see each other's cards before the question at the last point
    if variant.last_point is None or not variant.last_point.share:
        raise VariantError(f"{name}: expected a Brazilian game, got {variant.name}")


def _signals(variant: Variant, value: Setting) -> Variant:
    _check("signals", value, ("off", "partner", "table"))
    if variant.signals is None:
        raise VariantError(f"signals: expected a game with signs, got {variant.name}")
    if value == "table":
        return replace(variant, signals=replace(variant.signals, visible_to="table"))
    if value == "off":
        # orders are no signs: they stay
        return replace(variant, signals=replace(variant.signals, vocabulary=()))
    return variant


def _show(variant: Variant, value: Setting) -> Variant:
    if variant.show == "none":
        raise VariantError(f"show: expected a game in which cards are shown by choice, got {variant.name}")
    _check("show", value, ("owner", "none"))
    return replace(variant, show="owner" if value == "owner" else "none")


def _check(name: str, value: Setting, allowed: Sequence[Setting]) -> None:
    if value not in allowed:
        raise VariantError(f"{name}: expected {' or '.join(map(str, allowed))}, got {value!r}")


_OPTIONS: Mapping[str, Callable[[Variant, Setting], Variant]] = MappingProxyType(
    {
        "reveal": _reveal,
        "end_check": _end_check,
        "match": _match,
        "target": _target,
        "order": _order,
        "ladder": _ladder,
        "redeals": _redeals,
        "pica": _pica,
        "flor": _flor,
        "falta": _falta,
        "fold_bonus": _fold_bonus,
        "cover_from_trick": _cover_from_trick,
        "blind": _blind,
        "signals": _signals,
        "show": _show,
    }
)

TABLE_OPTIONS: Final = tuple(_OPTIONS)
"""The names of all options that some variant takes."""
