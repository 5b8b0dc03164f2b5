# SPDX-License-Identifier: MIT
"""Stores of recorded machines, filled with statistics that tests make up."""
import json
import os
import pathlib
import random
import struct
import subprocess
import tempfile

COLUMNS = ("machine device software writer op layout expert dtype situation "
           "bin epoch seq n mean m2 first_s bytes flops calls seconds "
           "last_unix_s").split()
OPS = ("add", "exp", "sum", "dot", "tanh")
EXPERTS = ("scalar", "simd.avx2", "simd.avx2x2")


def fingerprint(takt, folder):
    """Of a recorded machine, or (None) of this one."""
    if folder is None:
        return json.loads(subprocess.check_output(
            [takt, "machine", "--json"], text=True))["hw_fingerprint"]
    for line in (pathlib.Path(folder) / "expected.txt").read_text().split():
        if line.startswith("hw_fingerprint="):
            return line.partition("=")[2]
    raise ValueError(folder)


def record(machine, **values):
    full = dict(machine=machine, device="", software="tests",
                writer="0" * 32, op="add", layout="", expert="scalar", dtype=0,
                situation=0, bin=20, epoch=1, seq=1, n=4.0, mean=9.0, m2=0.5,
                first_s=0.0, bytes=1e6, flops=1e5, calls=3.0, seconds=0.25,
                last_unix_s=1700000000) | values
    return full


def text_of(records):
    lines = ["takt history 1", "\t".join(COLUMNS)]
    lines += ["\t".join(str(r[c]) for c in COLUMNS) for r in records]
    return "\n".join([*lines, f"end\t{len(records)}", ""])


class Machine:
    """A store of a recorded machine."""

    def __init__(self, takt, recording, store, writer):
        self.takt = takt
        self.recording = [] if recording is None else ["--machine",
                                                       str(recording)]
        self.store = pathlib.Path(store)
        self.machine = fingerprint(takt, recording)
        self.writer = f"{writer:032x}"
        self.seq = 0

    def learn(self, records):
        """Adds records, later than all before."""
        self.seq += 1
        full = [record(self.machine, writer=self.writer, seq=self.seq, **r)
                for r in records]
        ran = subprocess.run([self.takt, "history", "import", "-", "--db",
                              self.store], input=text_of(full), text=True,
                             capture_output=True)
        assert ran.returncode == 0, ran.stderr

    def learn_random(self, source, lines=6, bins=8):
        self.learn([dict(op=op, expert=expert, bin=10 + b,
                         n=float(source.randint(1, 40)),
                         mean=source.uniform(5, 20), m2=source.uniform(0, 1))
                    for op, expert in source.sample(
                        [(o, e) for o in OPS for e in EXPERTS], lines)
                    for b in range(bins)])

    def command(self, action, address, *words):
        return [self.takt, "fleet", *action.split(), "--db", str(self.store),
                *self.recording, "--server", address, *words]

    def fleet(self, action, address, *words, **settings):
        env = os.environ | {"HOME": str(self.store.parent)} | settings.pop(
            "env", {})
        return subprocess.run(self.command(action, address, *words), env=env,
                              capture_output=True, text=True, **settings)

    def prior(self):
        """(op, expert, bin) -> (machines, mean, variance) of the fleet."""
        return {(r["op"], r["expert"], int(r["bin"])):
                (float(r["n"]), float(r["mean"]), float(r["m2"]) /
                 float(r["n"]))
                for r in self.records(f"fleet.{self.machine[:16]}")}

    def origin(self):
        for line in (self.store.parent / (self.store.name + "-fleet")) \
                .read_text().splitlines():
            if line.startswith("origin "):
                return line.split()[1]
        return None

    def records(self, machine=None):
        """What the store has of this machine, or of one of that name."""
        machine = machine or self.machine
        text = subprocess.check_output(
            [self.takt, "history", "export", "--db", self.store], text=True)
        rows = [dict(zip(COLUMNS, line.split("\t")))
                for line in text.splitlines()[2:-1]]
        return [r for r in rows if r["machine"] == machine]


def folder():
    """For stores: in memory where that is possible, as each writes often."""
    return pathlib.Path(tempfile.mkdtemp(
        dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))


def single(value):
    return struct.unpack("<f", struct.pack("<f", float(value)))[0]


def cells(data):
    """What the bytes of a page hold: bin -> numbers."""
    assert data[0] == 1 and (len(data) - 1) % 26 == 0
    out = {}
    for at in range(1, len(data), 26):
        bin_, *numbers = struct.unpack_from("<H6f", data, at)
        out[bin_] = numbers
    return out


def sources(seed):
    return random.Random(seed)
