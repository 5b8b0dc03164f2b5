# SPDX-License-Identifier: MIT
"""Records of a trace, for tests: made by what docs/formats/trace.md says, and
not by the code that the tool itself has."""
import struct

HEADER, EVENT, TOTALS, OP, DURATION, DROPPED, END, GREETING = range(1, 9)
SLOW, DRAWN, EXPLORED, FALLBACK, DRIFT, ALL = (1 << i for i in range(6))
STATIC, FELL_BACK, PRIOR, FORCED, ONLY, MODEL, EXPLORE, PINNED = range(8)
START = 1_700_000_000_000_000_000
MS = 1_000_000


def text(string):
    raw = string if isinstance(string, bytes) else string.encode()
    return struct.pack("<H", len(raw)) + raw


def record(kind, says, stream=1):
    head = b"Tk\xf1\n" + struct.pack("<IH", len(says), kind)
    tail = struct.pack("<Q", stream) + says
    check = 2166136261
    for byte in head + tail:
        check = (check ^ byte) * 16777619 & 0xffffffff
    return head + struct.pack("<H", (check ^ check >> 16) & 0xffff) + tail


def header(stream=1, pid=4242, program="train", version=1, takt="0.1.0"):
    says = b"takttrce" + struct.pack("<I", version) + text(takt)
    says += text(program) + struct.pack("<QQdd", pid, START, -1, -1)
    return record(HEADER, says, stream)


def event(op="matmul", told=SLOW, shape=(64, 32, 16), expert="simd.avx2",
          backend=1, took=1e-3, expected=1e-3, reason=MODEL, refused="",
          refusal=0, status=0, at=0, drift=False, dtype=0, stream=1,
          elements=2048, confidence=0.9):
    says = struct.pack("<BI", drift, told) + text(op)
    says += struct.pack("<BB", dtype, len(shape))
    says += struct.pack(f"<{len(shape)}Q", *shape)
    says += struct.pack("<Qdd", elements, 1e4, 1e5)
    says += struct.pack("<B", backend) + text(expert)
    says += struct.pack("<I", 1) + text("")
    says += struct.pack("<BB", reason, 1) + text("scalar")
    says += struct.pack("<ddB", expected, confidence, 0) + text(refused)
    says += struct.pack("<BB", refusal, status)
    start = START + at * MS
    end = start + int(took * 1e9)
    says += struct.pack("<QQQdQ", start, start + 100, end, took, 77)
    return record(EVENT, says + bytes(25), stream)


def totals(explorations=0, fallbacks=0, drifts=0, told=0, dropped=0, stream=1,
           at=1000, exploring_s=0.25):
    says = struct.pack("<QQ8Q3QdQQQ", START, START + at * MS, *range(8),
                       explorations, fallbacks, drifts, exploring_s,
                       told, dropped, 0)
    return record(TOTALS, says, stream)


def op_metric(op, calls, hot=False, times_hot=0, rate=10.0, stream=1):
    return record(OP, text(op) + struct.pack("<QBQd", calls, hot, times_hot,
                                             rate), stream)


def duration(op, expert, backend, calls, seconds, most=1e-3, stream=1):
    classes = [0] * 26
    classes[12] = calls  # above 0.5 ms, up to 1 ms
    says = text(op) + text(expert) + struct.pack(
        "<BQddd26Q", backend, calls, seconds, 1e-9, most, *classes)
    return record(DURATION, says, stream)


def end(dropped=0, stream=1):
    return record(END, struct.pack("<QQ", START + 2000 * MS, dropped), stream)
