"""What the client library exports: documented, and as it stands on the page for authors."""

from pathlib import Path

from truc_docs.client_api import api_page

PAGE = Path(__file__).parents[2] / "docs" / "clients" / "api.txt"


def test_public_names_are_those_of_the_page() -> None:
    assert api_page() == PAGE.read_text("utf-8"), "python -m truc_docs.client_api docs/clients"
