"""The server: sockets, clocks, randomness and the store around the protocol and the rules.

`server` runs everything; `net`, `peer`, `outbox` and `timers` carry bytes and time; `reception`, `login`, `lobby` and
`table` decide; `game`, `dealer` and `clocks` play a match; `store`, `journal` and `recovery` keep it.
Nothing here is imported from outside: `truc-server` is the interface.
"""
