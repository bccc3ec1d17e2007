"""What is said, signed and shown at the table, in sentences."""

from typing import Final

from truc_rules import MOST_ORDERS, SIGNS, Variant
from truc_words import phrase_label, sign_label
from truc_words.rules_text.wording import listed

_LANG: Final = "en"

_VISIBLE: Final = {
    "partner": "A sign is seen by the partners of the one who makes it, and by nobody else.",
    "governor": "Only a governor's partner makes signs, and only its governor sees them.",
    "table": "A sign is seen by everybody at the table.",
}
_TRUTH: Final = {
    "free": "A sign may be false.",
    "enforced": "A sign must be true: a player makes it only with such a card among those it has not played.",
}
_ORDERS: Final = (
    "A governor may order what its partner plays next, before everybody: a rank, low, high or leave. It may do so at any"
    " time while the partner holds a card, also while another decision is open. The last order before the card counts;"
    f" the one in force is not given again, and for one card there are at most {MOST_ORDERS}.",
    "An order must be obeyed: a rank is played if the partner has it, and otherwise the order has no effect; low and"
    " leave call for its lowest rank, high for its highest. With the hand the order ends.",
)


def signals(variant: Variant) -> tuple[str, ...]:
    """Return who signs to whom, and who gives orders."""
    rule = variant.signals
    if rule is None:
        return ()
    orders = () if rule.orders == "none" else _ORDERS
    if not rule.vocabulary:
        return orders
    return (
        "While the hand lasts a player may make signs. They are no moves and leave no record.",
        _VISIBLE[rule.visible_to],
        _TRUTH[rule.truth],
        *orders,
    )


def signal_rows(variant: Variant) -> tuple[tuple[str, ...], ...]:
    """Return every sign with what it says, and the cards that make it true."""
    rule = variant.signals
    if rule is None or not rule.vocabulary:
        return ()
    rows = (
        (f"`{word}`", sign_label(word, _LANG, variant.words), _claim(variant, word))
        for word in rule.vocabulary
    )
    return (("sign", "what it says", "the cards that make it true"), *rows)


def _claim(variant: Variant, word: str) -> str:
    ranks = {card[:-1] for card in variant.pack}
    if not SIGNS[word]:
        return "no one card"
    return (
        listed([name for name in SIGNS[word] if name in ranks or name in variant.pack], "or")
        or "none of this pack"
    )


def phrases(variant: Variant) -> tuple[str, ...]:
    """Return that there are phrases."""
    return ("Some phrases may be said to the whole table; they bind nobody.",) if variant.phrases else ()


def phrase_rows(variant: Variant) -> tuple[tuple[str, ...], ...]:
    """Return every phrase with its words."""
    if not variant.phrases:
        return ()
    rows = ((f"`{phrase}`", phrase_label(phrase, _LANG, variant.words)) for phrase in variant.phrases)
    return (("phrase", "what it says"), *rows)


def show(variant: Variant) -> tuple[str, ...]:
    """Return who shows cards by choice."""
    if variant.show == "none":
        return ()
    if variant.reveal == "match":
        return (
            "When the hand is over, a player may show own cards that were not played, or keep them until the end of the match.",
        )
    return (
        "When the hand is over, a player may show own cards that were not played, before every card is opened.",
    )


def reveal(variant: Variant) -> tuple[str, ...]:
    """Return when the cards are opened."""
    if variant.reveal == "hand":
        return ("At the end of a hand every card is opened, so that everybody can check the deal.",)
    return (
        "At the end of a hand only what was played and what the rules show is open; all other cards are opened at the"
        " end of the match.",
    )


def absent(variant: Variant) -> tuple[str, ...]:
    """Return what happens to a turn whose time runs out."""
    if variant.absent == "concede":
        return ("For a player whose time runs out on a turn the hand is given up.",)
    return (
        "For a player whose time runs out on a turn the first of its cards, as they were dealt, is played.",
    )
