"""The wire in a form for programs, frozen: the messages as JSON Schema, and the registries.

Strangers build on what is committed in docs/protocol/schema, so a change of the wire must be seen: `python -m
truc_docs.schema --check DIR` tells every difference and whether it needs a new protocol number, `--accept DIR`
rewrites the files.
"""
