"""The rules of a game in sentences: one function for each field of a variant, chosen by nothing but its value.

Each module has the fields of one part of the game. A field without sentences fails a test. A rule that a game lacks says
nothing.
"""

from collections.abc import Mapping
from typing import Final

from truc_words.rules_text import bets, cards, local, stakes
from truc_words.rules_text.wording import ENGLISH, Rows, Sentences, Wording, by_value

CHAPTERS: Final[Mapping[str, Mapping[str, Sentences]]] = {
    "cards": {"players": cards.players, "pack": cards.pack, "order": cards.order},
    "deal": {
        "short_deal": cards.short_deal,
        "turnup": cards.turnup,
        "redeal": cards.redeal,
        "blind": cards.blind,
    },
    "tricks": {
        "tie_leader": by_value("tie_leader"),
        "partner_tie": cards.partner_tie,
        "hand_rule": cards.hand_rule,
        "all_tied": cards.all_tied,
        "cover_from_trick": cards.cover_from_trick,
    },
    "stake": {
        "ladder": stakes.ladder,
        "cap": stakes.cap,
        "ask_window": by_value("ask_window"),
        "accept": by_value("accept"),
        "answerer": stakes.answerer,
        "raise_in_answer": by_value("raise_in_answer"),
        "alternate": by_value("alternate"),
        "remainder": stakes.remainder,
        "concede": stakes.concede,
    },
    "last_point": {"last_point": stakes.last_point},
    "envido": {"envido": bets.envido},
    "flor": {"flor": bets.flor},
    "pica": {"pica": bets.pica},
    "talk": {"signals": local.signals, "phrases": local.phrases},
    "score": {"scoring": cards.scoring, "match": cards.match},
    "table": {"show": local.show, "reveal": by_value("reveal"), "absent": by_value("absent")},
    "words": {"words": local.words},
}
"""By chapter, the fields described in it, and by field what its value means, a sentence each."""

SENTENCES: Final[Mapping[str, Sentences]] = {
    field: sentences for chapter in CHAPTERS.values() for field, sentences in chapter.items()
}

TABLES: Final[Mapping[str, Rows]] = {
    "ladder": stakes.ladder_rows,
    "envido": bets.envido_rows,
    "flor": bets.flor_rows,
    "signals": local.signal_rows,
    "phrases": local.phrase_rows,
    "words": local.word_rows,
}
"""By field: the rows of its table, the heads first; none if the game lacks the rule."""
