"""The audit of a match: the auditor that is fed its records, the verdict it comes to, and whole files."""

from truc_protocol.audit.auditor import AuditError, Auditor, Finding
from truc_protocol.audit.equivocation import Equivocation, compare, refused_records
from truc_protocol.audit.file import verify
from truc_protocol.audit.hands import ClosedHand
from truc_protocol.audit.own import Accepted, OwnSeat
from truc_protocol.audit.verdict import Refutation, Result, Verdict

__all__ = [
    "Accepted",
    "AuditError",
    "Auditor",
    "ClosedHand",
    "Equivocation",
    "Finding",
    "OwnSeat",
    "Refutation",
    "Result",
    "Verdict",
    "compare",
    "refused_records",
    "verify",
]
