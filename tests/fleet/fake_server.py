# SPDX-License-Identifier: MIT
"""What speaks PostgreSQL's protocol, and answers as it is told."""
import socket
import struct
import threading

from proxy import message, receive

READY = message(b"Z", b"I")
BOUND = message(b"1", b"") + message(b"2", b"")
STORED = BOUND + message(b"n", b"") + message(b"C", b"INSERT 0 1\0")


def columns(count):
    return message(b"T", struct.pack(">H", count) + b"".join(
        b"c\0" + struct.pack(">IHIhih", 0, 0, 25, -1, -1, 0)
        for _ in range(count)))


def row(*values):
    return message(b"D", struct.pack(">H", len(values)) + b"".join(
        struct.pack(">i", -1) if value is None else
        struct.pack(">i", len(value)) + value for value in values))


def rows(*all_rows):
    return (BOUND + columns(len(all_rows[0])) +
            b"".join(row(*values) for values in all_rows) +
            message(b"C", b"SELECT 1\0"))


def notice(text):
    return message(b"N", b"SNOTICE\0C00000\0M" + text + b"\0\0")


def setting(text):
    return message(b"S", b"application_name\0" + text + b"\0")


class FakeServer:
    """`answers`: a part of a statement and what it gets: bytes, or a function
    of the connection. Everything else is stored. `greeting`: a function of the
    connection, before it is ready."""

    def __init__(self, greeting=None, **answers):
        self.greeting = greeting
        self.answers = {"meta": rows((b"1", b"fake"))} | answers
        self.listener = socket.create_server(("127.0.0.1", 0))
        port = self.listener.getsockname()[1]
        self.address = (f"host=127.0.0.1 port={port} user=u dbname=d "
                        "sslmode=disable")
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,),
                             daemon=True).start()

    def serve(self, client):
        with client:
            try:
                self.talk(client)
            except OSError:
                pass

    def talk(self, client):
        receive(client, struct.unpack(">I", receive(client, 4))[0] - 4)
        client.sendall(message(b"R", b"\0\0\0\0"))
        if self.greeting is not None:
            self.greeting(client)
        client.sendall(READY)
        while True:
            kind, length = struct.unpack(">cI", receive(client, 5))
            body = receive(client, length - 4)
            if kind == b"P":
                answer = self.answer_to(body)
            elif kind == b"E" and callable(answer):
                answer(client)
            elif kind == b"E":
                client.sendall(answer)
            elif kind == b"S":
                client.sendall(READY)

    def answer_to(self, statement):
        for part, answer in self.answers.items():
            if b"takt_fleet." + part.encode() in statement:
                return answer
        return STORED
