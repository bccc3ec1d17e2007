"""The server: sockets, clocks, randomness and the store around the protocol and the rules.

`server` runs everything, and `parts` holds what the floors are handed. A message arrives in `net` and is answered in `requests`;
`lobby`, `tables` and `matches` decide what follows from it, `spectating` says who is shown it, and `storage` keeps it.
`admin`, `upkeep`, `metrics` and `operation` are there for the host. Nothing here is imported from outside:
`truc-server` is the interface.
"""
