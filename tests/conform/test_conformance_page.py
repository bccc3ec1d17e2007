import re
from pathlib import Path

from click.testing import CliRunner
from rows import each_row

from truc_conform import client_cases, server_cases
from truc_conform.main import main

DOCS = Path(__file__).parents[2] / "docs" / "protocol"
CASES = (*client_cases.CASES, *server_cases.CASES)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)
    return set(plain)


@each_row("clause", sorted({case.clause for case in CASES}))
def test_clause_of_every_case_is_a_heading_of_its_page(clause) -> None:
    page, _, heading = clause.partition("#")
    assert heading in anchors(DOCS / page)


def test_every_case_has_a_name_of_its_own() -> None:
    names = [case.name for case in CASES]
    assert len(names) == len(set(names))


@each_row("asked, prefix", [([], ""), (["C1.*"], "C1.")])
def test_kit_lists_what_each_case_asked_for_expects_and_its_clause(asked, prefix) -> None:
    told = CliRunner().invoke(main, ["cases", *asked]).output.splitlines()
    assert [line.split(maxsplit=1) for line in told] == [
        [case.name, f"{case.expected} ({case.clause})"] for case in CASES if case.name.startswith(prefix)
    ]
