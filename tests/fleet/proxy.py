# SPDX-License-Identifier: MIT
"""A proxy between libpq and PostgreSQL, without TLS, that makes things fail.

It reads the messages of the protocol. On each INSERT it may, by chance: answer
with an error of its own and pass nothing on (40001); pass it on, and answer
with an error although the server stored it (40003); or cut the connection
before or after the server got it."""
import os
import random
import socket
import struct
import threading


def message(kind, body):
    return kind + struct.pack(">I", len(body) + 4) + body


def error(state):
    fields = (b"SERROR\0VERROR\0C" + state.encode() +
              b"\0Mmade up by a test\0\0")
    return message(b"E", fields)


def receive(from_, count):
    data = b""
    while len(data) < count:
        more = from_.recv(count - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data


class Proxy:
    """Listens on a socket in `folder`; the server's is in `behind`."""

    def __init__(self, folder, behind, port, seed, rate):
        self.behind = os.path.join(behind, f".s.PGSQL.{port}")
        self.source, self.rate = random.Random(seed), rate
        self.made = dict.fromkeys(("40001", "40003", "cut", "late"), 0)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(folder, f".s.PGSQL.{port}"))
        self.listener.listen(16)
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,),
                             daemon=True).start()

    def close(self):
        """Closing alone leaves a thread in accept(), on a number that another
        socket gets."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
        self.listener.close()

    def serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.behind)
            self.relay(client, server)
        except (ConnectionError, OSError):
            pass
        finally:
            for end in (client, server):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                end.close()

    def relay(self, client, server):
        length = receive(client, 4)  # the first message has no kind
        server.sendall(length + receive(client, struct.unpack(">I", length)[0]
                                        - 4))
        self.answer(client, server)
        group = b""
        while True:
            kind = receive(client, 1)
            length = receive(client, 4)
            group += kind + length + receive(
                client, struct.unpack(">I", length)[0] - 4)
            if kind in b"Sp":
                self.pass_on(client, server, group)
                group = b""
            elif kind == b"X":
                server.sendall(group)
                return

    def answer(self, client, server, keeps=True):
        """Passes on what the server says until it is ready for more."""
        while True:
            head = receive(server, 5)
            body = receive(server, struct.unpack(">I", head[1:])[0] - 4)
            if keeps:
                client.sendall(head + body)
            if head[:1] == b"Z" or (head[:1] == b"R" and
                                    body[:4] != b"\0\0\0\0" and
                                    body[:4] != b"\0\0\0\x0c"):
                return

    def pass_on(self, client, server, group):
        what = None
        if b"INSERT" in group and self.source.random() < self.rate:
            what = self.source.choice(tuple(self.made))
            self.made[what] += 1
        if what == "cut":
            raise ConnectionError
        if what == "40001":
            client.sendall(error(what) + message(b"Z", b"I"))
            return
        server.sendall(group)
        if what == "40003":
            self.answer(client, server, keeps=False)
            client.sendall(error(what) + message(b"Z", b"I"))
        elif what == "late":
            self.answer(client, server, keeps=False)
            raise ConnectionError
        else:
            self.answer(client, server)
