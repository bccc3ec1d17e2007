"""The registries in a form for programs, docs/protocol/schema/registries.json: codes, capabilities, facts, records.

Frozen with the schemas: a code that is gone, or a record with another field, is noticed just as a missing field of a
message is.
"""

from typing import Any, get_args

import msgspec

from truc_docs.protocol.exchanges import COURSES
from truc_docs.protocol.registries import STATE_FIELDS
from truc_protocol.errors import REGISTRY
from truc_protocol.ledger.facts import RECORD_FACTS, fact_name
from truc_protocol.messages import Direction
from truc_protocol.records import KINDS, tag_of
from truc_protocol.wire.capabilities import CAPABILITIES
from truc_rules import Event


def registries() -> dict[str, Any]:
    """Return every registry."""
    return {
        "$id": "urn:truc:1:registries",
        "description": "Error codes, capabilities, facts of `means`, and the kinds of records.",
        "codes": {
            code.value: {"closes": row.closes, "retryable": row.retryable, "description": row.meaning}
            for code, row in REGISTRY.items()
        },
        "answers": {
            tag: {"errors": [code.value for code in course.errors]}
            for tag, course in COURSES[Direction.TO_SERVER].items()
        },
        "capabilities": {
            known.name: {"brings": list(known.brings), "wanted": known.wanted, "description": known.meaning}
            for known in CAPABILITIES
        },
        "facts": {
            **{fact_name(event.__name__): {"fields": list(event._fields)} for event in get_args(Event)},
            **{what: {"fields": list(names)} for what, (names, _) in RECORD_FACTS.items()},
            "state": {"fields": list(STATE_FIELDS)},
        },
        "records": {
            tag_of(kind.body): {
                "items": [field.encode_name for field in msgspec.structs.fields(kind.body)],
                "signer": kind.signer or "server",
                "place": kind.binding.value,
                "phases": [phase.value for phase in kind.phases],
            }
            for kind in KINDS
        },
    }
