# SPDX-License-Identifier: MIT
"""The shared statistics of dropin/stats.h, for tests: made, and read."""
import struct
import time

ROUTINES = ("gemm", "symm", "syrk", "syr2k", "trmm", "trsm", "gemv", "ger",
            "axpy", "dot", "scal", "nrm2", "asum", "iamax")
WAYS = ("pass_through", "baseline", "scalar", "simd", "gpu")
WHYS = ("small", "settled", "starting", "form", "routine", "nested", "empty",
        "wrong", "no_router", "no_gpu", "asleep", "slower", "lost", "policy",
        "tried")
LETTERS, CLASSES, LIBRARIES, TEXT = 4, 32, 8, 256
TITLE = b"takt stats 7\n"
NUMBERS = 3 * len(WAYS) + 2 + 4 + len(WHYS) + 3  # of one cell
HEAD = 16 + 3 * 8 + (LIBRARIES + 2) * (4 + TEXT) + (7 + 8 + 3) * 8
LOOPS_AT = HEAD + len(ROUTINES) * LETTERS * CLASSES * NUMBERS * 8
LOOPS, LOOP_NAME, LOOP_NUMBERS = 96, 28, 10
LOOP_SIZE = 4 + LOOP_NAME + CLASSES * LOOP_NUMBERS * 8
LAPACK_AT = LOOPS_AT + LOOPS * LOOP_SIZE
LAPACK = ("getrf", "getrs", "getri", "gesv", "potrf", "potrs", "potri", "posv",
          "trtrs", "geqrf", "geqp3", "orgqr", "ormqr", "gelsd", "geev", "syev",
          "syevd", "syevr", "gesdd", "gesvd")
TIMELINE_AT = LAPACK_AT + len(LAPACK) * 2 * CLASSES * LOOP_NUMBERS * 8
SLOTS, TRACKS = 100, 5
SIZE = TIMELINE_AT + (1 + SLOTS * TRACKS) * 8


def make(path):
    with open(path, "wb") as out:
        out.write(TITLE.ljust(16, b"\0") + struct.pack("Q", SIZE))
        out.truncate(SIZE)
        out.seek(TIMELINE_AT)
        out.write(struct.pack("Q", time.monotonic_ns()))
    return path


class Stats:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.processes, self.routers = struct.unpack_from("QQ", self.bytes, 24)
        texts = [self.text(40 + i * (4 + TEXT)) for i in range(LIBRARIES + 2)]
        self.libraries = [text for text in texts[:LIBRARIES] if text]
        self.trouble, self.gpu = texts[LIBRARIES:]
        self.first_ns, self.last_ns, self.threads_ns = struct.unpack_from(
            "QQQ", self.bytes, HEAD - 3 * 8)

    def effect(self):
        """What Takt did to the program, by slices in which it was off."""
        names = ("slices", "gain_ns", "baseline_ns", "covered_ns",
                 "variance_us2", "lapack_baseline_ns", "lapack_error_ns",
                 "lapack_instead_ns")
        return dict(zip(names, struct.unpack_from("QqQQQQQQ", self.bytes,
                                                  HEAD - (8 + 3) * 8)))

    def timeline_ns(self):
        """What calls took in each slot: baseline, CPU, GPU, loops."""
        values = struct.unpack_from(f"{SLOTS * TRACKS}Q", self.bytes,
                                    TIMELINE_AT + 8)
        return [values[i:i + TRACKS] for i in range(0, len(values), TRACKS)]

    def text(self, at):
        state, = struct.unpack_from("I", self.bytes, at)
        text = self.bytes[at + 4:at + 4 + TEXT].split(b"\0")[0].decode()
        return text if state == 2 else ""

    def cells(self, routine=None):
        """(calls by way, why) of every cell, or of a routine's."""
        for number, name in enumerate(ROUTINES):
            for cell in range(LETTERS * CLASSES):
                if routine in (None, name):
                    at = (number * LETTERS * CLASSES + cell) * NUMBERS * 8
                    values = struct.unpack_from(f"{NUMBERS}Q", self.bytes,
                                                HEAD + at)
                    yield values[:len(WAYS)], values[21:21 + len(WHYS)]

    def parts_ns(self):
        """Of routed calls: all of it, moving operands, waiting."""
        took = moved = waited = 0
        for cell in range(len(ROUTINES) * LETTERS * CLASSES):
            values = struct.unpack_from(f"{NUMBERS}Q", self.bytes,
                                        HEAD + cell * NUMBERS * 8)
            took += sum(values[2 * len(WAYS) + 1:3 * len(WAYS)])
            moved += values[3 * len(WAYS)]
            waited += values[3 * len(WAYS) + 1]
        return took, moved, waited

    def calls(self, routine=None, way=None):
        return sum(sum(calls) if way is None else calls[WAYS.index(way)]
                   for calls, _ in self.cells(routine))

    def why(self, reason, routine=None):
        return sum(why[WHYS.index(reason)] for _, why in self.cells(routine))

    def loops(self):
        """{"add ff->f": (whole, split)}: calls of NumPy's loops."""
        found = {}
        for at in range(LOOPS_AT, LAPACK_AT, LOOP_SIZE):
            name = self.bytes[at + 4:at + 4 + LOOP_NAME].split(b"\0")[0]
            values = struct.unpack_from(f"{CLASSES * LOOP_NUMBERS}Q",
                                        self.bytes, at + 4 + LOOP_NAME)
            if name:
                found[name.decode()] = (sum(values[0::LOOP_NUMBERS]),
                                        sum(values[1::LOOP_NUMBERS]))
        return found

    def lapack(self):
        """{"dpotrf": (as the program has it, on fewer threads)}: calls."""
        found = {}
        for number in range(2 * len(LAPACK)):
            values = struct.unpack_from(
                f"{CLASSES * LOOP_NUMBERS}Q", self.bytes,
                LAPACK_AT + number * CLASSES * LOOP_NUMBERS * 8)
            calls = (sum(values[0::LOOP_NUMBERS]), sum(values[1::LOOP_NUMBERS]))
            if sum(calls) > 0:
                found["sd"[number % 2] + LAPACK[number // 2]] = calls
        return found
