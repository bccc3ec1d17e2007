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
    replies = ({"table": code} | server.ask("join", table=code) for code in ([table] if table else seen))
    found = (reply for reply in replies if table or reply["t"] == "ok")  # some tables admit no guest
    new = {"variant": "truc-french", "options": {"guests": 2, "match": 1}}
    reply = next(found, None) or server.ask("create", **new)
    code = reply["table"] if reply["t"] == "ok" else sys.exit(reply["msg"])
    print("table", code, server.ask("ready", table=code)["t"], flush=True)
    while True:
        message = server.early.pop(0) if server.early else server.receive()
        if message["t"] == "options" and message["must"]:
            move = random.choice([option["key"] for option in message["list"] if option["kind"] != "concede"])
            server.ask("act", choose=move, **{n: message[n] for n in ("table", "match", "at")})
        for fact in message.get("means", ()):
            if fact["what"] == "match_ended":
                return print(fact["reason"], "by side", fact["winner"])


main(*sys.argv[1:])
