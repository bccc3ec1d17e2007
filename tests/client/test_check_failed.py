"""The sentence at the terminal when a check fails."""

from pathlib import Path

from truc_client.errors import CheckFailedError, KeptEvidence


def test_error_says_what_went_wrong_what_it_means_and_what_to_do() -> None:
    told = str(
        CheckFailedError(
            "C19", "record 4: another card", "seat 1", KeptEvidence((Path("a.truc"),), is_shown=True)
        )
    )
    assert told.startswith("A card was played that is not the card dealt there")
    assert "(C19: record 4: another card; to blame: seat 1)" in told
    assert told.endswith("truc verify a.truc")


def test_error_without_proof_says_that_others_have_only_ones_word() -> None:
    told = str(
        CheckFailedError("C33", "it ends earlier", "server", KeptEvidence((Path("a.truc"),), is_shown=False))
    )
    assert told.endswith("others, who have only your word.")


def test_error_is_one_line() -> None:
    assert "\n" not in str(CheckFailedError("C9", "x", None))
