#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ten thousand spans a second for five seconds, to a collector that is well:
none is lost on the way.

usage: test_load.py DRIVE
"""
import sys

import peer

DRIVE, RATE, SECONDS = sys.argv[1], 5239, 5 # events; 21 spans of 11


def loaded(collectors, serve, compression):
    def check():
        collector = collectors.start(serve, {"ok": True})
        driven = peer.drive(
            DRIVE, f"--events {RATE * SECONDS} --rate {RATE} --quiet "
            "--settle 100000 --close 100000", collector.environment(
                OTEL_METRICS_EXPORTER="none",
                OTEL_BSP_MAX_QUEUE_SIZE="60000",  # a busy machine lags
                OTEL_EXPORTER_OTLP_COMPRESSION=compression))
        outcome = driven.outcome
        spans = outcome["spans"]
        assert spans >= 10000 * SECONDS
        assert driven.balance() == (spans, 0, 0, 0), outcome
        count = sum(request["spans"] for request in collector.requests)
        assert count == spans + 1, f"{count} came, with the root"
        return f"{spans} spans in {len(collector.requests)} requests; event() "\
            f"{outcome['event_mean_us']:.2f} us, " \
            f"{outcome['event_waits']} waits; {outcome['peak_kib']} KiB"
    check.__name__ = f"nothing_is_lost_over_{serve}_({compression})"
    return check


def main():
    peer.need()
    collectors = peer.Collectors()
    try:
        return peer.run([loaded(collectors, serve, compression)
                         for serve, compression in
                         (("grpc", "none"), ("http", "gzip"))], 1)
    finally:
        collectors.close()


sys.exit(main())
