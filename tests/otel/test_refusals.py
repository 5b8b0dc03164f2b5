#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Collectors that refuse what they get, put it off, or want some of it only:
what may get through another time is sent again, and nothing else.

usage: test_refusals.py DRIVE [--short] [--sanitized]
"""
import sys

from fault import World, all_failed, all_sent, case, export, main, note, row

# ---- refusals ---------------------------------------------------------------

# CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS
RETRYABLE = {1, 4, 10, 11, 14, 15}


def refusing(serve, answer, is_retried):
    def check():
        collector, driven = export(serve, [answer, {"ok": True}])
        if is_retried:
            all_sent(driven)
        else:
            all_failed(driven)
        tries = len(collector.requests)
        assert tries == 1 + is_retried, f"{tries} tries"
        return note(driven)
    return check


for code in range(1, 17):
    does = "is tried again" if code in RETRYABLE else "is not tried again"
    row(f"status {code} of gRPC {does}", refusing(
        "grpc", {"status": code, "message": "no%20thanks %E2%82%AC",
                 "short": code % 2 == 0}, code in RETRYABLE),
        is_short=code in (14, 3))
row("an exhausted resource with RetryInfo is tried again", refusing(
    "grpc", {"status": 8, "retry_s": 0.2}, True), is_short=True)
for code in (400, 401, 404, 413, 500, 501, 429, 502, 503, 504):
    retried = code in (429, 502, 503, 504)
    does = "is tried again" if retried else "is not tried again"
    row(f"status {code} of HTTP {does}",
        refusing("http", {"http_status": code}, retried))
for code, retried in ((400, False), (401, False), (404, False), (429, True),
                      (503, True), (504, True)):
    does = "is tried again" if retried else "is not tried again"
    row(f"status {code} of HTTP under gRPC {does}",
        refusing("grpc", {"http_status": code}, retried))


@case()
def what_a_collector_says_is_kept_for_people():
    _, driven = export("grpc", [{"status": 7,
                                 "message": "no%20thanks %E2%82%AC"}])
    said = driven.outcome["problem"].encode("latin-1").decode()
    assert "no thanks \u20ac" in said, said
    return note(driven)


@case()
def a_batch_is_given_up_after_five_tries():
    collector, driven = export("grpc", [{"status": 14}])
    all_failed(driven)
    assert len(collector.requests) == 5, collector.requests
    return note(driven)


def waiting(serve, answer, least_ms):
    def check():
        collector, driven = export(serve, [answer, {"ok": True}])
        all_sent(driven)
        first, second = collector.requests
        waited = second["at_ms"] - first["at_ms"]
        assert waited >= least_ms, f"only {waited} ms"
        return f"{waited} ms"
    return check


# Longer than any wait of the exporter's own would be.
row("RetryInfo says how long to wait",
    waiting("grpc", {"status": 14, "retry_s": 1.25}, 1240))
row("Retry-After says how many seconds to wait",
    waiting("http", {"http_status": 503, "retry_after": "2"}, 1990))
row("Retry-After says until when to wait",
    waiting("http", {"http_status": 429, "retry_at_s": 3.1}, 1990))


def absurd(serve, answer):
    def check():
        collector, driven = export(serve, [answer])
        all_failed(driven)
        assert len(collector.requests) == 1, collector.requests
        return note(driven)
    return check


row("a wait of a day is not waited",
    absurd("http", {"http_status": 503, "retry_after": "86400"}))
row("a wait of years is not waited",
    absurd("grpc", {"status": 14, "retry_s": 1e9}))


@case()
def a_wait_that_cannot_be_understood_is_done_without():
    for text in ("soon", "-1", "99999999999999999999", "1e3", " ", "1 day"):
        collector, driven = export(
            "http", [{"http_status": 503, "retry_after": text}, {"ok": True}])
        assert sum(driven.balance()) == driven.outcome["spans"]
    return note(driven)


@case()
def nobody_is_sent_elsewhere():
    for code in (301, 302, 307, 308):
        other = World.collectors.start("http", {"ok": True})
        collector, driven = export("http", [{
            "http_status": code,
            "location": f"http://127.0.0.1:{other.port}/v1/traces"}])
        all_failed(driven)
        assert not other.requests and len(collector.requests) == 1
    return note(driven)


# ---- partial success --------------------------------------------------------

def partly(serve, rejected, counted):
    def check():
        collector, driven = export(serve, [{
            "partial": {"rejected": rejected, "message": "too odd"}}])
        spans = driven.outcome["spans"]
        lost = min(counted, spans)
        assert driven.balance() == (spans - lost, 0, 0, lost), driven.outcome
        assert len(collector.requests) == 1, "tried again"
        assert "too odd" in driven.outcome["problem"], driven.outcome
        return note(driven)
    return check


for kind in ("grpc", "http"):
    row(f"spans that {kind} rejects are counted and not sent again",
        partly(kind, 3, 3), is_short=kind == "grpc")
    row(f"a warning of {kind} is kept and costs nothing", partly(kind, 0, 0))
    row(f"no more spans are rejected by {kind} than were sent",
        partly(kind, 10 ** 15, 10 ** 15))
    row(f"fewer than no spans rejected by {kind} are none",
        partly(kind, -5, 0))


sys.exit(main())
