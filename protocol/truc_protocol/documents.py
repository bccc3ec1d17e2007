"""The rule document: a variant as canonical bytes, whose hash the table record signs.

The document alone is enough to rebuild the variant, house rules included; a verifier needs no list of presets.
"""

from functools import lru_cache
from typing import Any, Final

from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError, dec, enc
from truc_rules import ENGINE, RulesError, Variant, params, variant_from_params

MAX_DOCUMENT: Final = 16_384  # those of the presets have 600 to 1,000 bytes
_TAG: Final = "truc/1/rules"
_REMEMBERED: Final = 64  # documents, of variants that are played again and again


@lru_cache(maxsize=_REMEMBERED)
def rule_document(variant: Variant) -> bytes:
    """Return enc(["truc/1/rules", engine, name, version, pack, [[param, value], ...]])."""
    fields = [[name, value] for name, value in params(variant)]
    return enc([_TAG, ENGINE, variant.name, variant.version, list(variant.pack), fields])


@lru_cache(maxsize=_REMEMBERED)
def read_document(document: bytes) -> Variant:
    """Rebuild the variant.

    Raises:
        CheckError: C5, if the bytes are not a rule document of an engine we have, or it contradicts itself.
    """
    try:
        name, version, pack, fields = _items(dec(document, MAX_DOCUMENT))
        variant = variant_from_params(name, version, pack, fields)
    except (EncodingError, RulesError) as error:
        raise CheckError("C5", f"rule document: {error}", "server") from error
    # each variant has one document: this also refuses params out of order and defaults that are spelled out
    if rule_document(variant) != document:
        message = "rule document: expected ascending names in every group, and no default"
        raise CheckError("C5", message, "server")
    return variant


def game_of(document: bytes) -> str | None:
    """Return the name of the game, or None if the document cannot be read, as when we no longer have its engine."""
    try:
        return read_document(document).name
    except CheckError:
        return None


def _items(value: Any) -> tuple[Any, Any, list[Any], list[Any]]:
    """Return name, version, pack and params as they came: what they hold is checked where the variant is built."""
    match value:
        case [tag, engine, name, version, [*pack], [*fields]] if tag == _TAG:
            # True passes for 1, but a truth value is never an integer (specification.md 1)
            if type(engine) is not int or engine != ENGINE:
                raise EncodingError(f"expected rules engine {ENGINE}, got {engine!r}")
            return name, version, pack, fields
        case _:
            raise EncodingError("expected [tag, engine, variant, version, pack, params]")
