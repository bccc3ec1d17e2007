import json
import sys

from click.testing import CliRunner
from rows import each_row

from truc_conform.commands import Report, as_html, as_json, line, summary
from truc_conform.main import main
from truc_conform.result import PASSED, Case, CaseOutcome, CaseResult, CaseVerdict, ProgramTrace, failed

TRACE = ProgramTrace("exit code 3 after 0.1 s", "<said>\n", "", ("client hello id=1",))
CASE = Case("C0.ping", "session.md#keep-alive", "`pong` & more")


def report(*outcomes: CaseOutcome, level: str = "C0") -> Report:
    results = [CaseResult(CASE, outcome, 0.5, TRACE) for outcome in outcomes]
    return Report("./client {url}", level, 1, results, cases=len(results))


def run(*words: str):
    return CliRunner().invoke(main, list(words))


@each_row(
    "verdict, level, is_passed",
    [
        (CaseVerdict.INFO, "C0", True),
        (CaseVerdict.UNIMPLEMENTED, "C0", False),  # by a client
        (CaseVerdict.UNIMPLEMENTED, "server", True),
    ],
)
def test_report_passes_without_a_failure_or_a_case_that_a_client_lacks(verdict, level, is_passed) -> None:
    assert report(PASSED, CaseOutcome(verdict, ""), level=level).is_passed is is_passed


def test_summary_counts_by_verdict_and_says_how_many_cases_there_are_beside_those_asked_for() -> None:
    assert summary(report(PASSED, PASSED, failed("no pong"))) == "C0: not passed (2 PASS, 1 FAIL)"
    assert summary(report(PASSED, PASSED)._replace(cases=57)) == "2 of 57 cases of C0: passed (2 PASS)"


def test_failure_is_told_with_its_clause_and_what_the_client_left_behind() -> None:
    result = CaseResult(CASE, failed("no pong"), 0.5, TRACE)
    *told, ended, err, wire = (row.strip() for row in line(result).splitlines())
    assert "no pong" in "".join(told)
    assert "docs/protocol/session.md#keep-alive" in "".join(told)
    assert (ended, err, wire) == ("end:  exit code 3 after 0.1 s", "err:  <said>", "wire: client hello id=1")
    (row,) = json.loads(as_json(report(failed("no pong"))))["results"]
    assert row["trace"] == {
        "ended": "exit code 3 after 0.1 s",
        "stderr": "<said>\n",
        "stdout": "",
        "frames": ["client hello id=1"],
    }
    assert row["clause"] == "session.md#keep-alive"


def test_page_tells_it_escaped_and_needs_nothing_from_elsewhere() -> None:
    page = as_html(report(failed("no pong")))
    assert all(told in page for told in ("client hello id=1", "&lt;said&gt;"))
    assert "http" not in page


def test_json_of_equal_runs_is_equal_however_long_they_took() -> None:
    slow = Report("./client {url}", "C0", 1, [CaseResult(CASE, PASSED, 9.0)], cases=1)
    assert as_json(report(PASSED)) == as_json(slow)


def test_case_name_that_fits_none_is_a_mistake_in_the_command() -> None:
    assert run("client", "--case", "C9.*", "--", "true").exit_code == 2


def test_failed_case_makes_the_exit_code_1() -> None:
    assert run("client", "--case", "C0.ping", "--timeout", "5", "--", sys.executable, "-c", "").exit_code == 1


def test_report_that_cannot_be_written_is_told(tmp_path) -> None:
    path = str(tmp_path / "none" / "report.json")
    ended = run("client", "--case", "C0.ping", "--timeout", "5", "--json", path, "--", "/no/such/program")
    assert "No such file" in ended.output
