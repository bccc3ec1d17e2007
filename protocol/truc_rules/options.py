"""Table options: what a table may change of a preset, where the preset has the machine (rules.md 14b)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from .errors import UnknownOptionError, VariantError
from .presets import ORDERS
from .variant import Redeal, Scoring, Variant

Setting = int | str

_MATCHES = (1, 3, 5)
_WITHOUT_MACHINE = ("pica", "flor", "falta", "fold_bonus", "cover_from_trick", "blind", "signals", "show")


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
    if name in _WITHOUT_MACHINE:
        raise VariantError(f"{name}: expected a variant that has this rule, got {variant.name}")
    if name not in _OPTIONS:
        raise UnknownOptionError(f"{name}: expected one of the options {', '.join(TABLE_OPTIONS)}")
    return _OPTIONS[name]


def _reveal(variant: Variant, value: Setting) -> Variant:
    _check("reveal", value, ("hand", "match"))
    return replace(variant, reveal="match" if value == "match" else "hand")


def _end_check(variant: Variant, value: Setting) -> Variant:
    _check("end_check", value, ("immediate", "hand_end"))
    target = variant.scoring.target
    return replace(variant, scoring=Scoring(target, "hand_end" if value == "hand_end" else "immediate"))


def _match(variant: Variant, value: Setting) -> Variant:
    _check("match", value, _MATCHES)
    return replace(variant, match=int(value))


def _target(variant: Variant, value: Setting) -> Variant:
    if not isinstance(value, int) or value < 1:
        raise VariantError(f"target: expected a number of points, got {value!r}")
    return replace(variant, scoring=Scoring(value, variant.scoring.end_check))


def _order(variant: Variant, value: Setting) -> Variant:
    fitting = {name: order for name, (pack, order) in ORDERS.items() if pack == variant.pack}
    _check("order", value, tuple(fitting))
    return replace(variant, order=fitting[str(value)])


def _ladder(variant: Variant, value: Setting) -> Variant:
    if isinstance(variant.ladder, tuple) or variant.alternate != "no":
        raise VariantError(
            f"ladder: expected a variant without stakes or turns of its own, got {variant.name}"
        )
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
    }
)

TABLE_OPTIONS: Final = tuple(_OPTIONS)
"""The names of all options that some variant takes."""
