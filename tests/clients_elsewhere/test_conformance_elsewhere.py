"""The clients of docs/clients before the conformance kit: the guests at level C2, the one with a key at C5."""

import json
import os

import pytest
import trio
from clients_elsewhere.hosted import HOSTED_JS, PATIENCE_S, hosted_java, judge_hosted
from clients_elsewhere.programs import GUEST_JS, GUEST_PY, GUESTS, KEYED_JS, keyed, needs_jdk, needs_node
from conform.judging import judge

from truc_conform.client_cases import CASES, JudgingOrder, chosen, perform_all
from truc_conform.result import CaseVerdict, Level
from truc_protocol.audit import verify

NEEDS_RULES = {"C3.cheat-score", "C3.cheat-options-forbidden"}
"""What a client that plays no rules cannot see."""

SHARE = 1 if "TRUC_EXAMPLES" in os.environ else 6
"""The client in Java plays one of so many cases: what a case asks, the other holds in every run.
Where the host sees no card that one plays every other case."""


def not_passed(results) -> set[str]:
    """Return the cases that a client does not pass."""
    assert len(results) > 10
    return {
        name for name, result in results.items() if result.verdict not in (CaseVerdict.PASS, CaseVerdict.INFO)
    }


@pytest.mark.slow
@pytest.mark.parametrize("guest", GUESTS)
def test_guest_is_a_client_of_level_c2(guest) -> None:
    results = judge(("*",), *guest, "{url}", level=Level.C2, patience_s=PATIENCE_S)
    assert not_passed(results) == set()


@pytest.mark.slow
@needs_node
@pytest.mark.parametrize("client", [GUEST_JS, GUEST_PY, KEYED_JS], ids=["guest.mjs", "guest.py", "keyed.mjs"])
def test_client_that_is_sent_round_follows_three_moves_and_ends_by_itself(client) -> None:
    """docs/protocol/session.md, "Goodbye"."""
    (scene,) = chosen(None, ("C2.moved-round",))
    ended = []

    def see(server, end) -> None:
        ended.append((len(server.doors_used) - 1, end.code))

    order = JudgingOrder((*client, *(KEPT if client is KEYED_JS else ()), "{url}"))
    trio.run(perform_all, [scene._replace(judged=[(case, (see,)) for case, _ in scene.judged])], order)
    assert ended == [(3, 1)]


KEPT = ("--keep", "{home}/keep.json", "--out", "{home}/match.truc")
REVOKED = (*KEPT, "--revocation", "{revocation}", "{url}")


@pytest.mark.slow
@needs_node
def test_keyed_client_notices_every_cheat() -> None:
    results = judge_hosted(("C[34].*",), HOSTED_JS, REVOKED, level=Level.C4)
    assert not_passed(results) == set()


@pytest.mark.slow
@needs_node
def test_keyed_client_deals_where_the_host_sees_no_card_and_notices_cheats_there() -> None:
    asked = [case.name for case in CASES if case.name.startswith("C5.")]
    results = judge_hosted(asked[:: min(SHARE, 2)], HOSTED_JS, (*KEPT, "{url}"), level=Level.C5)
    assert not_passed(results) == set()


@pytest.mark.slow
@needs_jdk
def test_client_by_the_page_alone_is_one_of_level_c4(keyed_java) -> None:
    """When a share is due the page does not say: only the rules do."""
    asked = [case.name for case in CASES if case.name.startswith(("C3.", "C4."))]
    results = judge_hosted(asked[::SHARE], hosted_java(keyed_java), REVOKED, level=Level.C4)
    assert not_passed(results) <= NEEDS_RULES | {"C4.cheat-unshared"}


@pytest.fixture(scope="module")
def cheated(tmp_path_factory):
    """Return the folder of a keyed client that has met a cheat: a deal that the seeds do not bring."""
    folder = tmp_path_factory.mktemp("cheated")
    judge(("C3.cheat-shuffle",), *KEYED_JS, "{url}", *keyed(folder)[2:])
    return folder


@pytest.mark.slow
@needs_node
def test_transcript_of_a_keyed_client_that_has_stopped_convicts_the_server(cheated) -> None:
    told = verify((cheated / "match.truc").read_bytes())
    assert (str(told.result), told.refutation.check, told.refutation.culprit) == ("refuted", "C25", "server")


@pytest.mark.slow
@needs_node
def test_keyed_client_stores_that_it_has_stopped_and_why(cheated) -> None:
    kept = json.loads((cheated / "keep.json").read_text())
    assert [table["stopped"] for table in kept["tables"].values()] == ["C25 fails, to blame: server"]
