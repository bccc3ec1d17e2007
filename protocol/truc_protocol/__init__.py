"""What all parties must agree on: functions from values to values, without I/O, clock or async.

The proof: `codec` (canonical bytes), `crypto` (keys, chains, the shuffle), `dealing`, `blind_mode` (the deal that the seats
make among themselves), `boxes`; `bodies` and `records` (the table of record kinds), `checks` (their numbers), `documents`,
`setup`, `acts`, `ledger` (the fold), `dealer` (the server's own records) with `match_secrets`, `own_steps` and `signs` (a
seat's), `audit`, `transcript`, `evidence_file`. The wire: `wire`, `messages`, `errors`. `ledger.facts` says what a record
means, `key_files` what people keep of keys.
"""
