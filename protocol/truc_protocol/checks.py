"""The numbered checks a verifier makes, and the error that names the one that failed.

The table is the one source: error messages, documentation and tests cite its numbers. A `CheckError` says which
check failed, who is to blame as far as the record shows it, and what was expected; `at` (which record) is added by
whoever feeds the records.
"""

from functools import lru_cache
from typing import Final

CHECKS: Final[dict[str, str]] = {
    "C1": "the body is canonical and within its size",
    "C2": "the record has the shape of its kind and comes from a signer who may make it",
    "C3": "the signature is valid under the key in force for that role",
    "C4": "keys are admissible",
    "C5": "the rule document is the one signed, and the table's terms are in range",
    "C6": "seats and guests stand in order, bound to this table, with no more guests than admitted",
    "C7": "keys, anchors and box keys all differ and are sound",
    "C8": "match lists exactly these seats",
    "C9": "the server, its terms and its nonce are those this client accepted",
    "C10": "the record stands at exactly this position and head",
    "C11": "the phase allows this record",
    "C12": "deal index and seat are the open ones",
    "C13": "one call for an index, with the fields that follow from the records before it",
    "C14": "an opened link fits the chain in force",
    "C15": "each contributor releases once, and all before the deal",
    "C16": "the draw is recomputed, and there is only one",
    "C17": "the deal repeats its call and has its shape",
    "C18": "the seat's own box opens onto its leaves",
    "C19": "an opening hashes to its leaf, and its slot was not opened before",
    "C20": "the rules allow this seat this act now",
    "C21": "proxies are for guests, acts for keyed seats",
    "C22": "a ruling is on the list, its content recomputed, its condition shown",
    "C23": "cards are opened and shared exactly when the rules demand it",
    "C24": "score, reason and winner are recomputed",
    "C25": "the whole deal is recomputed from its seed, and the rules replayed on the open cards",
    "C26": "a void names exactly the silent seats, and its consequence follows",
    "C27": "a rekey is due and fresh",
    "C28": "a substitution is due and fresh",
    "C29": "a paused match rests",
    "C30": "the end opens every server chain",
    "C31": "the end opens the server's box key, and every box is recomputed",
    "C32": "at most one ack for each keyed seat",
    "C33": "the server signed one history",
    "C34": "a seat signed one history",
    "C35": "the server refused nothing that the rules allow, or that it took",
    "C36": "a table serves one match, a nonce one table",
    "C37": "the server's hello is for this connection",
    "C38": "the login is for this connection",
    "C39": "a key rotation follows from the pinned key",
    "C40": "a revoked key is never accepted",
    "C41": "the file is a transcript",
    "C42": "the transcript ends in end",
    "C43": "in mode blind: the step is the one that is due, and has its shape",
    "C44": "in mode blind: points are of prime order, on the curve",
    "C45": "in mode blind: no point comes twice",
    "C46": "in mode blind: keys fit their locks, and boxes hold them",
    "C47": "in mode blind: the deal repeats the places as they are locked",
    "C48": "in mode blind: a garbled hand is claimed in its place, and truly",
    "C49": "in mode blind: no seat opens its link before the hand is over",
    "C50": "in mode blind: a seat did as its link says",
    "C51": "in mode blind: each secret of a seat is used once",
    "C52": "in mode blind: an exposed seat loses",
}


class CheckError(Exception):
    """A check failed: `check` is its number, `culprit` who the record blames ("server", "seat 1") or None.

    `refusal` is the code that answers an act if the check alone does not determine it: not_your_turn, illegal_action
    or void_bet of the rules (C20), illegal_action for a pause or resume that cannot be asked for (C29).
    """

    def __init__(
        self, check: str, message: str, culprit: str | None = None, *, refusal: str | None = None
    ) -> None:
        if check not in CHECKS:
            raise KeyError(check)
        super().__init__(message)
        self.check = check
        self.culprit = culprit
        self.message = message
        self.refusal = refusal

    def __str__(self) -> str:
        blame = f" ({self.culprit})" if self.culprit else ""
        return f"{self.check}{blame}: {self.message}"


@lru_cache(maxsize=64)  # whoever is to blame for a record is named before it is known whether it fails
def role_name(role: int) -> str:
    """Say who a role is: 0 the server, i + 1 seat i."""
    return "server" if role == 0 else f"seat {role - 1}"
