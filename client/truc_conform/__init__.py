"""The conformance kit: whether somebody's client or server keeps the protocol, case by case."""
