"""The conformance kit: it judges whether a client or server keeps the protocol, case by case."""
