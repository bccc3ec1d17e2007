"""The conformance kit: it judges whether a client or server keeps the protocol, case by case.

A case is one decorated function, found by its name. `@case` (server_cases) plays a visit to a server: the first line of
its docstring says what is expected, its body what is sent. `@scene` (client_cases) arranges a server for a client: its
docstring says what is sent, its arguments what is expected and who judges that. Both name the clause they are about.

Servers: `server_visit` gives a case its players (`raw_seat`), who send whatever it wants (`raw_client`), and raises what
`expectations` do not find. Clients: `client_cases` start a client at a `client_harness`, a server around a `scripted` table,
which notes what the client does; it may be new to the client (`grease`) or lie (`forging`), and `scenes` judge what was noted. `result`
holds what came of a case, `commands` tell it, with what `wire_trace` has kept where a client fails.
"""
