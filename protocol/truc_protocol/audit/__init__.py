"""The audit of a match: the auditor that is fed its records, and the verdict it comes to."""

from truc_protocol.audit.auditor import AuditError, Auditor, Finding, OwnSeat
from truc_protocol.audit.hands import ClosedHand
from truc_protocol.audit.verdict import Refutation, Result, Verdict

__all__ = ["AuditError", "Auditor", "ClosedHand", "Finding", "OwnSeat", "Refutation", "Result", "Verdict"]
