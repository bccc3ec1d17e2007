"""What all parties must agree on: functions from values to values, without I/O, clock or async.

The proof: `codec` (canonical bytes), `keys`, `chains`, `shuffle`, `dealing`, `boxes`; `bodies` and `records` (the table of
record kinds), `checks` (their numbers), `documents`, `setup`, `acts`, `ledger` (the fold), `audit`, `transcript`.
The wire: `frames`, `messages`, `errors`, `handshake`, `connection`. For people: `meaning`, `words`, `rules_page`.
What docs/ has of them: `reference`, `schema`.
"""
