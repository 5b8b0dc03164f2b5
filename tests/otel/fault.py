# SPDX-License-Identifier: MIT
"""What the tests of failing collectors share: how the driver is run, what must
hold whatever a collector does, and the list of cases."""
import contextlib
import socket
import sys
import tempfile

import peer

DRIVE = sys.argv[1]
IS_SHORT = "--short" in sys.argv
IS_SANITIZED = "--sanitized" in sys.argv
FORKS = "--without-fork" not in sys.argv  # TSan cannot follow

# Of one batch: nobody's root span is sent with it, nor metrics.
QUIET = {"OTEL_METRICS_EXPORTER": "none",
         "TRACEPARENT": "00-0af7651916cd43dd8448eb211c80319c-"
                        "b7ad6b7169203331-01"}
# A test does not wait as long as a program would.
HASTY = {**QUIET, "OTEL_EXPORTER_OTLP_TIMEOUT": "300",
         "OTEL_BSP_EXPORT_TIMEOUT": "600"}
BATCH = "--events 100 --settle 100000 --quiet"
SEVERAL = "--events 600 --settle 100000 --quiet"
# A try that is not given up when the exporter closes would take this long.
LONG = {"OTEL_EXPORTER_OTLP_TIMEOUT": "100000",
        "OTEL_BSP_EXPORT_TIMEOUT": "100000"}
# Of processor time, in event(), on average.
EVENT_US = 500 if IS_SANITIZED else 50
# event() waits for a lock now and then, but not for collectors: every event
# that finds the queue full would wait then.
WAITS_OF_EVENTS = 0.05
PEAK_KIB = 64 * 1024
CLOSE_SLACK_MS = 30000  # of a busy machine, and far less than LONG


class World:
    """What all cases use, while they run."""
    collectors = None
    certificates = None


def run(words, environment):
    """Runs the driver and checks what must hold whatever the collector does;
    without --settle some spans are neither sent nor lost yet."""
    driven = peer.drive(DRIVE, words, environment)
    assert driven.opened["status"] == 0, driven.opened
    for outcome in driven.outcomes:
        check_outcome(outcome, "--settle" in words)
    return driven


def check_outcome(outcome, is_settled):
    known = sum(outcome[key] for key in
                ("sent", "dropped", "failed", "rejected"))
    assert known == outcome["spans"] if is_settled else \
        known <= outcome["spans"], outcome
    assert outcome["event_mean_us"] < EVENT_US, outcome
    assert outcome["event_waits"] <= \
        WAITS_OF_EVENTS * outcome["events"] + 10, outcome
    assert IS_SANITIZED or outcome["peak_kib"] < PEAK_KIB, outcome


def note(driven):
    shown = driven.outcome
    return f"{shown['spans']} spans: sent, dropped, failed, rejected " \
        f"{driven.balance()}; event() {shown['event_mean_us']:.1f} us, " \
        f"{shown['event_waits']} waits; close() " \
        f"{shown['close_ms']:.0f} ms; {shown['peak_kib'] // 1024} MiB; " \
        f"\"{shown['problem']}\""


def all_sent(driven):
    spans = driven.outcome["spans"]
    assert driven.balance() == (spans, 0, 0, 0), driven.outcome


def all_failed(driven, words=""):
    spans = driven.outcome["spans"]
    assert driven.balance() == (0, 0, spans, 0), driven.outcome
    assert words in driven.outcome["problem"] != "", driven.outcome


def export(serve, script, environment=QUIET, words=BATCH, **more):
    collector = World.collectors.start(serve, *script, **more)
    return collector, run(words, collector.environment(**environment))


@contextlib.contextmanager
def bound_port():
    """A port at which nobody listens, and which nobody else gets."""
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        yield unheard, unheard.getsockname()[1]


def endpoint(port, protocol="grpc", scheme="http", **more):
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": f"{scheme}://127.0.0.1:{port}",
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol, **more}


CASES = []


def case(is_short=False):
    """A case of both kinds of build, or of the plain one alone."""
    def take(function):
        if (is_short or not IS_SHORT) and (FORKS or "fork" not in
                                           function.__name__):
            CASES.append(function)
        return function
    return take


def row(name, function, is_short=False):
    function.__name__ = name.replace(" ", "_")
    case(is_short)(function)


def main():
    peer.need()
    with tempfile.TemporaryDirectory() as folder:
        World.certificates = peer.Certificates(folder)
        World.collectors = peer.Collectors()
        try:
            return peer.run(CASES, 6)
        finally:
            World.collectors.close()
