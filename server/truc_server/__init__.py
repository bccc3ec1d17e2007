"""The server: sockets, clocks, randomness and the store around the protocol and the rules.

`server` runs everything, `house` is what its parts share, `timers` keep time, `journal` and `recovery` keep the rest.
A connection comes in through `connections`; what it asks for is decided in `lobby`, `tables` and `matches`;
`store` is the database, and `host` what its host deals with.
Nothing here is imported from outside: `truc-server` is the interface.
"""
