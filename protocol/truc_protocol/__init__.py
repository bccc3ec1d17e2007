"""What all parties must agree on: functions from values to values, without I/O, clock or async.

The proof: `codec` (canonical bytes), `crypto` (keys, chains, the shuffle), `dealing`, `boxes`; `bodies` and `records` (the
table of record kinds), `checks` (their numbers), `documents`, `setup`, `acts`, `ledger` (the fold), `dealer` (the server's
own records), `audit`, `transcript`. The wire: `wire`, `messages`, `errors`. `ledger.facts` says what a record means.
"""
