"""House variants as servers and clients read them: from a TOML text, and only if a rule document can hold them.

The text itself is read in truc_rules. Invariant: a variant that was read can be rebuilt from its rule document, so
that nobody who has a transcript needs the file.
"""

from truc_protocol.checks import CheckError
from truc_protocol.codec import EncodingError
from truc_protocol.documents import MAX_DOCUMENT, read_document, rule_document
from truc_rules import Variant, preset, presets
from truc_rules.errors import most_like
from truc_rules.variants.house import MAX_FILE, HouseVariantError, variant_from_toml
from truc_rules.variants.toml_text import as_toml
from truc_words import Sentence

__all__ = ["MAX_FILE", "HouseVariantError", "NoSuchGameError", "preset_called", "read_variant"]


class NoSuchGameError(HouseVariantError):
    """No preset has this name; the text, a sentence, says which have similar names, and where others are listed."""

    def __init__(self, name: str, others: str) -> None:
        like = ", ".join(most_like(name, presets()))
        key = "failures.game_meant" if like else "failures.no_such_game"
        self.sentence = Sentence(key, got=as_toml(name), like=like, others=others)
        super().__init__("no such game", [self.sentence])

    def __str__(self) -> Sentence:
        return self.sentence


def preset_called(name: str, others: str) -> Variant:
    """Return a preset; `others` says how another game is named.

    Raises:
        NoSuchGameError: There is no preset of that name.
    """
    if name not in presets():
        raise NoSuchGameError(name, others)
    return preset(name)


def read_variant(text: str, source: str) -> Variant:
    """Read the variant that a TOML text describes; `source` is what messages call the text.

    Raises:
        HouseVariantError: It is not TOML, has a field that is unknown, missing or wrong, or contradicts itself.
    """
    variant = variant_from_toml(text, source)
    try:
        read_document(rule_document(variant))
    except (CheckError, EncodingError) as error:
        problem = f"expected rules that fit a document of {MAX_DOCUMENT} bytes: {error}"
        raise HouseVariantError(source, [problem]) from error
    return variant
