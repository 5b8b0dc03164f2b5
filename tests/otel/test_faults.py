#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Collectors that are not there, slow, hostile or broken: the program goes on
as if nothing were, ends in time, and knows what became of every span.

usage: test_faults.py DRIVE [--short] [--sanitized] [--without-fork]
"""
import contextlib
import socket
import sys
import threading

from fault import (BATCH, CLOSE_SLACK_MS, HASTY, LONG, QUIET, SEVERAL, World,
                   all_failed, all_sent, bound_port, case, endpoint, export,
                   main, note, row, run)

# ---- absent, slow, silent ---------------------------------------------------

def absent(protocol):
    def check():
        with bound_port() as (_, port):
            driven = run(SEVERAL, endpoint(port, protocol, **HASTY))
        all_failed(driven, "127.0.0.1")
        assert driven.outcome["close_ms"] < CLOSE_SLACK_MS, driven.outcome
        return note(driven)
    return check


for kind in ("grpc", "http/protobuf"):
    row(f"an absent collector of {kind} costs nothing but the spans",
        absent(kind), is_short=True)


@case()
def more_than_the_queue_is_dropped_and_counted_in_bounded_memory():
    with bound_port() as (_, port):
        driven = run("--events 200000 --quiet --settle 100000",
                     endpoint(port, **HASTY))
    sent, dropped, failed, rejected = driven.balance()
    assert (sent, rejected) == (0, 0) and dropped > 300000, driven.outcome
    assert failed >= 8192, driven.outcome
    return note(driven)


@case(is_short=True)
def a_collector_that_was_absent_gets_everything_when_it_is_there():
    with bound_port() as (_, port):
        pass
    later = {}

    def come():
        later["collector"] = World.collectors.start(
            "grpc", {"ok": True}, port=port)
    timer = threading.Timer(0.5, come)
    timer.start()
    driven = run(SEVERAL, endpoint(port, **QUIET))
    timer.join()
    all_sent(driven)
    assert sum(request["spans"] for request in
               later["collector"].requests) == driven.outcome["spans"]
    return note(driven)


@case()
def a_slow_collector_gets_everything():
    for serve in ("grpc", "http"):
        _, driven = export(serve, [{"ok": True, "delay_ms": 2000}])
        all_sent(driven)
    return note(driven)


@case(is_short=True)
def a_slow_collector_and_a_full_queue_add_up():
    collector, driven = export(
        "grpc", [{"ok": True, "delay_ms": 300}], words="--events 2000 "
        "--quiet --settle 100000", environment={
            **QUIET, "OTEL_BSP_MAX_QUEUE_SIZE": "512",
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "128"})
    sent, dropped, failed, rejected = driven.balance()
    assert dropped > 0 and sent >= 512 - 128 and failed == rejected == 0
    assert sum(request["spans"] for request in collector.requests) == sent
    return note(driven)


def hanging(serve):
    def check():
        collector, driven = export(serve, [{}], HASTY, SEVERAL)
        all_failed(driven)
        assert collector.requests, "nobody asked"
        return note(driven)
    return check


for kind in ("grpc", "http"):
    row(f"a collector of {kind} that never answers is given up",
        hanging(kind), is_short=kind == "grpc")


def closing(serve):
    def check():
        collector = World.collectors.start(serve, {})
        driven = run("--events 600 --quiet --close 500",
                     collector.environment(**QUIET, **LONG))
        assert driven.outcome["close_ms"] < 500 + CLOSE_SLACK_MS
        return note(driven)
    return check


for kind in ("grpc", "http"):
    row(f"close keeps its deadline while a collector of {kind} hangs",
        closing(kind), is_short=True)


@case()
def a_collector_that_never_accepts_is_given_up():
    with bound_port() as (server, port), contextlib.ExitStack() as stack:
        server.listen(0)
        for _ in range(4): # more than the backlog takes
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        driven = run(SEVERAL, endpoint(port, **HASTY))
        all_failed(driven)
    return note(driven)


@case()
def a_name_that_nobody_knows_holds_nobody_up():
    driven = run("--events 600 --quiet --close 500", {
        **QUIET, **LONG,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://nowhere.invalid:4317"})
    assert driven.outcome["close_ms"] < 500 + CLOSE_SLACK_MS, driven.outcome
    return note(driven)


@case(is_short=True)
def a_hanging_collector_of_metrics_loses_no_trace():
    traces = World.collectors.start("grpc", {"ok": True})
    metrics = World.collectors.start("grpc", {})
    url = f"http://127.0.0.1:{metrics.port}"
    driven = run("--events 600 --metrics 3 --settle 100000 --close 30000 "
                 "--quiet",
                 {**traces.environment(),
                  "OTEL_EXPORTER_OTLP_METRICS_TIMEOUT": "1000",
                  "OTEL_METRIC_EXPORT_TIMEOUT": "1000",
                  "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": url})
    all_sent(driven)
    assert metrics.requests, "metrics were not sent"
    assert driven.outcome["close_ms"] < CLOSE_SLACK_MS
    assert sum(request["spans"] for request in traces.requests) == \
        driven.outcome["spans"] + 1, "with the root"
    return note(driven)


@case(is_short=True)
def after_a_fork_parent_and_child_both_end_while_the_collector_hangs():
    collector = World.collectors.start("grpc", {})
    driven = run("--events 600 --quiet --fork --close 500",
                 collector.environment(**LONG))
    assert len(driven.outcomes) == 2
    for outcome in driven.outcomes:
        assert outcome["close_ms"] < 500 + CLOSE_SLACK_MS, outcome
    return note(driven)


# ---- garbage ----------------------------------------------------------------

def broken(serve, answer, environment=None, is_failed=True):
    """It ends, and every span is accounted for."""
    def check():
        _, driven = export(serve, [answer], environment or HASTY)
        if is_failed:
            all_failed(driven)
        return note(driven)
    return check


def broken_raw(protocol, answer):
    def check():
        collector = World.collectors.start("raw", answer)
        driven = run(BATCH, endpoint(collector.port, protocol, **HASTY))
        all_failed(driven)
        assert collector.told("connected")
        return note(driven)
    return check


for kind in ("grpc", "http/protobuf"):
    for what, answer in (
            ("random bytes", {"garbage": True}),
            ("a closed door", {"close": True}),
            ("a header that never ends", {"drip": True}),
            ("words of another protocol", {"text": "SSH-2.0-OpenSSH_9.2\r\n"}),
            ("half an answer", {"text": "HTTP/1.1 200 OK\r\nContent-Length: "
                                        "100\r\n\r\nhalf"})):
        row(f"{what} instead of {kind} does no harm", broken_raw(kind, answer),
            is_short=what == "random bytes")
for what in ("truncated", "huge", "compressed", "garbage"):
    row(f"a frame of gRPC that is {what} does no harm",
        broken("grpc", {"frame": what}, is_failed=False),
        is_short=what == "huge")
row("a web page instead of gRPC is a failure", broken("grpc", {"html": True}))
row("a web page instead of HTTP does no harm",
    broken("http", {"html": True}, is_failed=False))
row("garbage in an answer of HTTP does no harm",
    broken("http", {"garbage": True}, is_failed=False))
row("giant headers of HTTP do no harm", broken("http", {"giant": 1}),
    is_short=True)
row("large headers of gRPC do no harm",
    broken("grpc", {"giant": 60}, is_failed=False))
row("giant headers of gRPC do no harm",
    broken("grpc", {"giant": 900}, is_failed=False))
for kind in ("grpc", "http"):
    row(f"an answer of {kind} that never ends does no harm",
        broken(kind, {"endless": True}, is_failed=False), is_short=True)


# ---- death ------------------------------------------------------------------

def dying(serve, answers, count):
    """The whole of one batch of half a megabyte must come again."""
    def check():
        collector, driven = export(
            serve, [*answers, {"ok": True}],
            words="--events 1000 --settle 100000 --quiet",
            environment={**QUIET, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "2000"})
        all_sent(driven)
        assert len(collector.told("died")) == count
        spans = sum(request["spans"] for request in collector.requests[-1:])
        assert spans == driven.outcome["spans"], collector.requests
        return note(driven)
    return check


for kind in ("grpc", "http"):
    row(f"a batch cut off when {kind} dies is sent again when it is back",
        dying(kind, [{"die": True}] * 2, 2), is_short=kind == "grpc")
row("a stream that is reset is sent again", dying("grpc", [{"reset": 2}], 0))
row("a stream that is refused is sent again", dying("grpc", [{"reset": 7}], 0))
row("a connection that is ended is made again",
    dying("grpc", [{"goaway": 0xb}], 0))
for how in ("end", "reset"):
    row(f"an answer that is cut off by the {how} of a connection is no answer",
        dying("grpc", [{"cut": how}], 0))


# ---- connections ------------------------------------------------------------

def several_batches(serve, is_secure, answer):
    tls = {"tls": World.certificates.tls("server")} if is_secure else {}
    ca = World.certificates["ca.pem"]
    collector, driven = export(
        serve, [answer], words="--events 1500 --settle 100000 --quiet", **tls,
        environment={**QUIET, "OTEL_EXPORTER_OTLP_CERTIFICATE": ca})
    all_sent(driven)
    assert len(collector.requests) >= 4
    return len(collector.told("connected")), note(driven)


def reusing(serve, is_secure):
    """The old libcurl of some systems cannot reuse gRPC without TLS."""
    def check():
        connections, notes = several_batches(serve, is_secure, {"ok": True})
        assert connections == 1, "a connection for each"
        return notes
    return check


row("a connection of gRPC with TLS is used again", reusing("grpc", True))
row("a connection of HTTP is used again", reusing("http", False))
row("a connection of HTTP with TLS is used again", reusing("http", True))


def hanging_up(serve, is_secure):
    def check():
        connections, notes = several_batches(
            serve, is_secure, {"ok": True, "hangup": True})
        assert connections > 1, "it did not hang up"
        return notes
    return check


for kind, secure in (("grpc", False), ("grpc", True), ("http", False),
                     ("http", True)):
    row(f"a collector of {kind} that hangs up after each answer gets all"
        f"{' with TLS' if secure else ''}", hanging_up(kind, secure))


@case()
def no_request_is_larger_than_collectors_take():
    collector, driven = export(
        "grpc", [{"ok": True}], words="--events 12000 --settle 100000 --quiet",
        environment={**QUIET, "OTEL_BSP_MAX_QUEUE_SIZE": "100000",
                     "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "100000"})
    all_sent(driven)
    sizes = [request["bytes"] for request in collector.requests]
    assert len(sizes) > 1 and max(sizes) <= 2000000, sizes
    return f"{sizes} bytes"


# ---- certificates -----------------------------------------------------------

def trusting(serve, certificate, trusted, **tls):
    """A collector with a certificate, and an authority that is trusted."""
    collector = World.collectors.start(
        serve, {"ok": True}, tls=World.certificates.tls(certificate, **tls))
    return collector, collector.environment(
        OTEL_EXPORTER_OTLP_CERTIFICATE=World.certificates[trusted])


def distrusted(serve, certificate, trusted):
    def check():
        collector, environment = trusting(serve, certificate, trusted)
        driven = run(BATCH, {**environment, **HASTY})
        all_failed(driven)
        assert collector.requests == [], "it was told all the same"
        return note(driven)
    return check


for kind in ("grpc", "http"):
    for what, certificate, trusted in (
            ("that has expired", "expired", "ca.pem"),
            ("of another host", "elsewhere", "ca.pem"),
            ("that nobody signed", "self", "ca.pem"),
            ("of another authority", "server", "self.pem")):
        row(f"{kind} with a certificate {what} gets nothing",
            distrusted(kind, certificate, trusted),
            is_short=kind == "grpc" and certificate == "expired")


@case()
def a_collector_without_tls_gets_nothing_of_what_is_meant_for_one_with_it():
    for serve in ("grpc", "http"):
        collector = World.collectors.start(serve, {"ok": True})
        driven = run(BATCH, {
            **collector.environment(**HASTY), "OTEL_EXPORTER_OTLP_ENDPOINT":
            f"https://127.0.0.1:{collector.port}"})
        all_failed(driven)
        assert collector.requests == []
    return note(driven)


@case()
def a_collector_that_wants_a_certificate_gets_it():
    own = {"OTEL_EXPORTER_OTLP_CLIENT_" + what: World.certificates[file]
           for what, file in (("CERTIFICATE", "client.pem"),
                              ("KEY", "client.key"))}
    for serve in ("grpc", "http"):
        collector, environment = trusting(serve, "server", "ca.pem",
                                          ca=World.certificates["ca.pem"])
        all_failed(run(BATCH, {**environment, **HASTY}))
        assert collector.requests == []
        driven = run(BATCH, {**environment, **QUIET, **own})
        all_sent(driven)
        assert len(collector.requests) == 1
    return note(driven)


sys.exit(main())
