"""A guest of a Truc server: python guest.py HOST PORT [TABLE]; plays one match at random, says how it ended."""

import itertools
import os
import random
import socket
import sys

import msgpack


class Server:
    def __init__(self, host: str, port: str):
        self.socket = socket.create_connection((host, int(port)))
        self.ids = itertools.count()
        self.early: list[dict] = []  # what came while we waited for a reply

    def send(self, kind: str, **fields):
        frame = msgpack.packb({"t": kind, **fields})
        self.socket.sendall(len(frame).to_bytes(4, "big") + frame)

    def take(self, length: int) -> bytes:
        return self.socket.recv(length, socket.MSG_WAITALL) or sys.exit("the server closed the connection")

    def receive(self) -> dict:
        message = msgpack.unpackb(self.take(int.from_bytes(self.take(4), "big")))
        if message["t"] == "ping":
            self.send("pong", n=message["n"])
        return message

    def ask(self, kind: str, **fields) -> dict:
        number = next(self.ids)
        self.send(kind, id=number, **fields)
        while (message := self.receive()).get("re") != number:
            self.early.append(message)
        return message


def main(host: str, port: str, table: str | None = None):
    server = Server(host, port)
    server.ask("hello", proto=[1], cn=os.urandom(32))  # the reply is signed; a guest may skip that check
    print("playing as", server.ask("login", name="guest")["name"])
    seen = [state["table"] for state in server.ask("tables")["tables"] if state["state"] == "open"]
    code = table or (seen or [None])[0]
    new = {"variant": "truc-french", "options": {"guests": 2, "match": 1}}
    reply = server.ask("join", table=code) if code else server.ask("create", **new)
    code = code or reply["table"]
    print("table", code, server.ask("ready", table=code)["t"], flush=True)
    while True:
        message = server.early.pop(0) if server.early else server.receive()
        if message["t"] == "options" and message["must"]:
            moves = [option["key"] for option in message["list"] if option["kind"] != "concede"]
            where = {name: message[name] for name in ("table", "match", "at")}
            server.ask("act", choose=random.choice(moves), **where)
        for fact in message.get("means", ()):
            if fact["what"] == "match_ended":
                return print(fact["reason"], "by side", fact["winner"])


main(*sys.argv[1:])
