"""The results of an examination as plain values, for programs: what `--json` prints.

What fails has the names under which the published test vectors and the verifier in JavaScript tell it, too.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from truc_protocol.audit import Agreement, Contradiction, EvidenceExamined, Refutation, Verdict, WeighedItem
from truc_words import words_of_check


def agreement_facts(each: Agreement, files: Sequence[Path]) -> dict[str, Any]:
    """Return, as plain values, how far transcripts of one match agree."""
    named = [str(files[n]) for n in each.files]
    return {"match": each.match.hex(), "files": named, "agree": each.records, "is_whole": each.is_whole}


def verdict_facts(verdict: Verdict) -> dict[str, Any]:
    """Return the verdict as plain values, for programs."""
    facts: dict[str, Any] = verdict._asdict()
    facts["result"] = str(verdict.result)
    facts["match"] = verdict.match and verdict.match.hex()
    facts["exposed"] = verdict.exposed and verdict.exposed._asdict()
    facts |= {"by_ruling": verdict.by_ruling, "losers_ruled": verdict.losers_ruled}
    facts["rulings"] = [{"k": k, "ruling": rule.ruling, "seat": rule.seat} for k, rule in verdict.rulings]
    facts["substitutes"] = [{"k": k, "seat": newcomer.seat} for k, newcomer in verdict.substitutes]
    facts["rekeys"] = [{"k": k, "role": role} for k, role in verdict.rekeys]
    # Its parts stand in the object itself, under the names of the test vectors.
    del facts["refutation"]
    return facts | failure_facts(verdict.refutation)


def failure_facts(failed: Refutation | None) -> dict[str, Any]:
    """Return what failed as plain values, all None if nothing did."""
    return {
        "check": failed and failed.check,
        "record": failed and failed.k,
        "setup": failed and failed.in_setup,
        "culprit": failed and failed.culprit,
        "message": failed and failed.message,
        "meaning": failed and str(words_of_check(failed.check)),
    }


def evidence_facts(evidence: EvidenceExamined, files: Sequence[Path]) -> dict[str, Any]:
    """Return the result of an evidence file as plain values."""
    return {
        "result": evidence.result and str(evidence.result),
        "evidence": [_weighed_facts(each, files) for each in evidence.weighed],
        **failure_facts(evidence.unreadable),
    }


def _weighed_facts(each: WeighedItem, files: Sequence[Path]) -> dict[str, Any]:
    return {
        "judgement": each.judgement and str(each.judgement),
        "transcript": None if each.transcript is None else str(files[each.transcript]),
        **failure_facts(each.refutation),
        "message": each.message,
    }


def contradiction_facts(each: Contradiction, files: Sequence[Path]) -> dict[str, Any]:
    """Return what two transcripts show as plain values."""
    found = each.found
    return {
        "files": [str(files[each.first]), str(files[each.second])],
        "check": found.check,
        "culprit": found.culprit,
        "message": found.message,
        "places": list(found.places),
        "meaning": str(words_of_check(found.check)),
    }
