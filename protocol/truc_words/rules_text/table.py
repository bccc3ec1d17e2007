"""What is said, signed and shown at the table, in sentences."""

from truc_rules import MOST_ORDERS, SIGNS, Variant
from truc_words import phrase_label, sign_label
from truc_words.rules_text.wording import Wording


def signals(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return who signs to whom, and who gives orders."""
    rule = variant.signals
    if rule is None:
        return ()
    signs = (say("signals.told"), say(f"signals.{rule.visible_to}"), say(f"signals.{rule.truth}"))
    orders = (say("signals.order", orders=MOST_ORDERS), say("signals.obeyed"))
    return (*(signs if rule.vocabulary else ()), *(() if rule.orders == "none" else orders))


def signal_rows(variant: Variant, say: Wording) -> tuple[tuple[str, ...], ...]:
    """Return every sign with what it says, and the cards that make it true."""
    rule = variant.signals
    if rule is None or not rule.vocabulary:
        return ()
    rows = (
        (f"`{word}`", sign_label(word, say.lang, variant.words), _claim(variant, word, say))
        for word in rule.vocabulary
    )
    return ((say("signals.sign"), say("signals.says"), say("signals.cards")), *rows)


def _claim(variant: Variant, word: str, say: Wording) -> str:
    if not SIGNS[word]:
        return say("signals.no_card")
    ranks = {card[:-1] for card in variant.pack}
    named = [name for name in SIGNS[word] if name in ranks or name in variant.pack]
    return say.listed(named, "or") or say("signals.none_of_pack")


def phrases(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return that there are phrases."""
    return (say("phrases.told"),) if variant.phrases else ()


def phrase_rows(variant: Variant, say: Wording) -> tuple[tuple[str, ...], ...]:
    """Return every phrase with its words."""
    if not variant.phrases:
        return ()
    rows = ((f"`{phrase}`", phrase_label(phrase, say.lang, variant.words)) for phrase in variant.phrases)
    return ((say("phrases.phrase"), say("signals.says")), *rows)


def show(variant: Variant, say: Wording) -> tuple[str, ...]:
    """Return who shows cards by choice."""
    return () if variant.show == "none" else (say(f"show.{variant.reveal}"),)
