"""The rules of a game in sentences: one function for each field of a variant, chosen by nothing but its value.

Each module has the fields of one part of the game; the rules page decides which chapter they go into. A field without
sentences fails a test. A rule that a game lacks says nothing.
"""

from collections.abc import Mapping
from typing import Final

from truc_words.rules_text import bets, cards, local, stakes
from truc_words.rules_text.wording import ENGLISH, Rows, Sentences, Wording, by_value

SENTENCES: Final[Mapping[str, Sentences]] = {
    "players": cards.players,
    "pack": cards.pack,
    "order": cards.order,
    "turnup": cards.turnup,
    "short_deal": cards.short_deal,
    "redeal": cards.redeal,
    "blind": cards.blind,
    "tie_leader": by_value("tie_leader"),
    "partner_tie": cards.partner_tie,
    "hand_rule": cards.hand_rule,
    "all_tied": cards.all_tied,
    "cover_from_trick": cards.cover_from_trick,
    "ladder": stakes.ladder,
    "cap": stakes.cap,
    "ask_window": by_value("ask_window"),
    "accept": by_value("accept"),
    "answerer": stakes.answerer,
    "raise_in_answer": by_value("raise_in_answer"),
    "alternate": by_value("alternate"),
    "remainder": stakes.remainder,
    "concede": stakes.concede,
    "last_point": stakes.last_point,
    "envido": bets.envido,
    "flor": bets.flor,
    "pica": bets.pica,
    "scoring": cards.scoring,
    "match": cards.match,
    "signals": local.signals,
    "phrases": local.phrases,
    "show": local.show,
    "reveal": by_value("reveal"),
    "absent": by_value("absent"),
    "words": local.words,
}
"""By field: what its value means, a sentence each."""

TABLES: Final[Mapping[str, Rows]] = {
    "ladder": stakes.ladder_rows,
    "envido": bets.envido_rows,
    "flor": bets.flor_rows,
    "signals": local.signal_rows,
    "phrases": local.phrase_rows,
    "words": local.word_rows,
}
"""By field: the rows of its table, the heads first; none if the game lacks the rule."""

__all__ = ["ENGLISH", "SENTENCES", "TABLES", "Wording"]
