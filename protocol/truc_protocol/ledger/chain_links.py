"""A contributor opens a link of its chain."""

from msgspec.structs import replace

from truc_protocol.checks import CheckError, role_name
from truc_protocol.crypto import chains
from truc_protocol.ledger.state import Contributor, Ledger


def open_link(ledger: Ledger, role: int, link: bytes) -> Ledger:
    """Take link index + 1 of a role's chain.

    Raises:
        CheckError: C14 if it does not hash down to the newest link known.
    """
    contributor = ledger.contributors[role]
    number = ledger.deal_index + 1
    table = ledger.setup.terms.table
    # down to the newest link known, not to the anchor (specification.md 4): mostly one hash, however long the
    # match
    if contributor is None or not chains.descends(
        contributor.public, table.tn, known=contributor.known, index=number, link=link
    ):
        raise CheckError(
            "C14", f"link {number} does not hash down to the chain of {role_name(role)}", role_name(role)
        )
    return with_contributor(ledger, role, replace(contributor, known=(number, link)))


def with_contributor(ledger: Ledger, role: int, contributor: Contributor) -> Ledger:
    """Return the ledger with another contributor in a role."""
    return replace(
        ledger, contributors=(*ledger.contributors[:role], contributor, *ledger.contributors[role + 1 :])
    )
