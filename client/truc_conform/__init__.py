"""The conformance kit: it judges whether a client or server keeps the protocol, case by case.

Within: `server_cases` visit a server (`judged`) with players (`raw_seat`) who send whatever a case wants (`raw_client`).
`client_cases` let a client play at a scripted server (`scripted`, `stage`), which may be new to it (`grease`) or lie
(`forging`); what it does there is noted and judged (`noted`, `scenes`). `running` runs cases, `report` tells the results.
"""
