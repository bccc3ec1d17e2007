"""The audit of a match: the auditor that is fed its records, the verdict it comes to, whole files, and evidence."""

from truc_protocol.audit.auditor import AuditError, Auditor, Finding, server_links
from truc_protocol.audit.cross_audit import (
    Agreement,
    Contradiction,
    CrossAudit,
    EvidenceExamined,
    Examined,
    examine,
    verify,
)
from truc_protocol.audit.equivocation import Equivocation, compare
from truc_protocol.audit.evidence import Judgement, WeighedItem
from truc_protocol.audit.hands import ClosedHand
from truc_protocol.audit.own_seat import OwnSeat
from truc_protocol.audit.verdict import Refutation, Result, Verdict, is_preset
