#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two receivers that others wrote get, over every transport, exactly what was
fed: every span, attribute, resource and point of a metric.

usage: test_receivers.py DRIVE NODE_MODULES FIXTURES [--short] [--without-fork]
"""
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

import expect
import peer

DRIVE, MODULES, FIXTURES = map(os.path.abspath, sys.argv[1:4])
IS_SHORT = "--short" in sys.argv
FORKS = "--without-fork" not in sys.argv  # TSan cannot follow
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
numbers = itertools.count(1)


class Export:
    """One run of the driver against one receiver, and what came of it."""

    def __init__(self, receiver, transport, words="", **environment):
        self.receiver, self.number = receiver, str(next(numbers))
        protocol = transport.partition("+")[0]
        secure = "+tls" in transport
        port = receiver.ports[protocol + ("+tls" if secure else "")]
        self.environment = {
            "OTEL_EXPORTER_OTLP_ENDPOINT":
                f"{'https' if secure else 'http'}://localhost:{port}",
            "OTEL_EXPORTER_OTLP_PROTOCOL":
                "grpc" if protocol == "grpc" else "http/protobuf",
            "OTEL_EXPORTER_OTLP_COMPRESSION":
                "gzip" if "+gzip" in transport else "none",
            "OTEL_EXPORTER_OTLP_CERTIFICATE": receiver.certificates["ca.pem"],
            "OTEL_EXPORTER_OTLP_HEADERS": f"x-case={self.number},x-odd=a%20b",
            "OTEL_RESOURCE_ATTRIBUTES":
                f"test.case={self.number},host.name=caf%C3%A9,k=1%2C2",
            "OTEL_SERVICE_NAME": "the service",
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "64", **environment}
        self.driven = peer.drive(DRIVE, "--events 240 --metrics 2 "
                                 "--settle 100000 --close 100000 " + words, self.environment)

    def is_mine(self, resource):
        return expect.read_attributes(resource).get("test.case") == \
            ("string", self.number)

    def bodies(self, signal):
        """The parts of all requests: (resource, scope, what is in it)."""
        outer, inner, last = {
            "traces": ("resourceSpans", "scopeSpans", "spans"),
            "metrics": ("resourceMetrics", "scopeMetrics", "metrics")}[signal]
        for line in list(self.receiver.peer.told):
            if line.get("signal") != signal:
                continue
            assert line.get("unknown", 0) == 0, "fields that nobody knows"
            for part in line["body"].get(outer, []):
                if self.is_mine(part["resource"]):
                    for scope in part[inner]:
                        yield part["resource"], scope["scope"], scope[last]

    def spans(self, count):
        """All that came, once there are so many."""
        def seen():
            return sum(len(spans) for _, _, spans in self.bodies("traces"))
        self.receiver.peer.until(lambda: seen() >= count)
        assert seen() == count, f"{seen()} spans came of {count}"
        return [expect.read_span(span) for _, _, spans in
                self.bodies("traces") for span in spans]

    def requests(self):
        """Headers of the requests."""
        return [line for line in list(self.receiver.peer.told)
                if line.get("headers", {}).get("x-case") == self.number]


class Receiver:
    def __init__(self, script, certificates, *words):
        self.certificates = certificates
        self.peer = peer.Peer(script, MODULES, certificates["server.pem"],
                              certificates["server.key"], *words)
        self.ports = self.peer.wait(lambda line: line.get("ports"))


def differences(got, want, where):
    if isinstance(got, dict) and isinstance(want, dict):
        for key in {**got, **want}:
            yield from differences(got.get(key), want.get(key),
                                   f"{where} {key}")
    elif got != want:
        yield f"{where}: {got!r} is not {want!r}"


def same(got, want, what):
    assert got == want, "\n".join(differences(got, want, what))


def check_spans(events, spans, trace):
    """Every event has its spans, and there are no others. Starts are unique
    among selections, and among changes."""
    assert len({span["id"] for span in spans}) == len(spans)
    assert all(len(span["id"]) == 16 and span["id"].strip("0")
               for span in spans)
    first = {(span["name"].partition(":")[0], span["start"]): span
             for span in spans}
    second = {span["parent"]: span for span in spans
              if span["name"].startswith(("compute_", "gpu_"))}
    count = 0
    for event in events:
        wanted = trace.of(event)
        name = wanted[0]["name"].partition(":")[0]
        outer = first[name, wanted[0]["start"]]
        same(outer, {**wanted[0], "id": outer["id"]}, "selection")
        for want in wanted[1:]:
            inner = second[outer["id"]]
            same(inner, {**want, "id": inner["id"], "parent": outer["id"]},
                 "run")
        count += len(wanted)
    assert count == len(spans), "spans of nobody"


def check_root(root, driven):
    last = driven.metrics[-1]  # it knows better than the exporter can
    same(root, {
        **root, "parent": None, "kind": expect.INTERNAL, "status": (0, ""),
        "flags": 1 | expect.HAS_REMOTE, "state": "",
        "attributes": expect.attributes(takt__told=last["told"],
                                        takt__dropped=last["dropped"])},
         "root")
    starts = [event["start_ns"] for event in driven.events]
    assert root["start"] < root["end"]
    assert abs(root["start"] - min(starts)) < 60e9, "not of this run"


def expected_resource(export):
    machine, opened = export.driven.machine, export.driven.opened
    name = pathlib.Path(os.path.realpath(DRIVE)).name
    architecture = {"x86_64": "amd64", "aarch64": "arm64"}
    gpus = machine["gpu"]
    return expect.attributes(
        service__name=export.environment["OTEL_SERVICE_NAME"],
        telemetry__sdk__name="takt", telemetry__sdk__language="c",
        telemetry__sdk__version=opened["version"], host__name="caf\u00e9",
        host__arch=architecture[machine["architecture"]],
        host__cpu__model__name=machine["cpu_name"],
        host__cpu__vendor__id=machine["cpu_vendor"],
        host__cpu__family=str(machine["cpu_family"]),
        host__cpu__model__id=str(machine["cpu_model"]),
        host__cpu__stepping=str(machine["cpu_stepping"]),
        os__type="linux", process__pid=opened["pid"],
        process__executable__name=name, takt__cpu__isa=machine["isa"],
        takt__cpu__threads=machine["threads"],
        takt__gpu__name=[gpu["name"] for gpu in gpus] or None,
        takt__gpu__address=[gpu["address"] for gpu in gpus] or None,
        test__case=export.number, k="1,2")


def check_resource(export, resource):
    got = expect.read_attributes(resource)
    for free in ("service.instance.id", "os.description", "os.version"):
        kind, value = got.pop(free, ("string", "-"))
        assert kind == "string" and value, free
    same(got, expected_resource(export), "resource")


def check_metrics(fed, metrics):
    now, start = fed["now_ns"], fed["start_ns"]
    got = {metric["name"]: expect.read_metric(metric, start, now)
           for metric in metrics}
    assert len(got) == len(metrics), "a metric is there twice"
    dropped, sent = got.pop("takt.spans.dropped"), got.pop("takt.spans.sent")
    assert sent["kind"] == dropped["kind"] == "sum"
    assert sent["unit"] == dropped["unit"] == "{span}", (sent, dropped)
    assert dropped["points"][expect.point(reason="ring_full")] == \
        ("int", 2 * fed["dropped"])
    same(got, expect.expected_metrics(fed), "metrics")


def time_of(metrics):
    """Of all points: that it is the same is checked with them."""
    calls, = [one for one in metrics if one["name"] == "takt.calls"]
    return int(calls["sum"]["dataPoints"][0]["timeUnixNano"])


def check_all_metrics(export):
    fed = {one["now_ns"]: one for one in export.driven.metrics}

    def times():
        return {time_of(metrics) for _, _, metrics in export.bodies("metrics")}
    assert export.receiver.peer.until(lambda: max(fed) in times()), \
        "the last metrics did not come"
    for resource, scope, metrics in export.bodies("metrics"):
        check_resource(export, resource)
        check_scope(export, scope)
        check_metrics(fed[time_of(metrics)], metrics)


def check_scope(export, scope):
    assert scope["name"] == "takt", scope
    assert scope["version"] == export.driven.opened["version"], scope


def check_headers(export):
    requests = export.requests()
    assert requests, "no request has the headers that were configured"
    for request in requests:
        headers = request["headers"]
        assert headers["x-odd"] == "a b", headers
        assert headers["user-agent"] == "OTel-OTLP-Exporter-takt/" + \
            export.driven.opened["version"], headers


def check_export(export):
    """Everything that was fed, with a root of the exporter's own."""
    driven = export.driven
    fed = driven.outcome["spans"]
    assert driven.balance() == (fed, 0, 0, 0), driven.outcome
    assert driven.outcome["problem"] == "", driven.outcome
    spans = export.spans(fed + 1)
    root, = [span for span in spans if span["name"] == "takt_compute"]
    check_root(root, driven)
    spans.remove(root)
    check_spans(driven.events, spans,
                expect.Trace(root["trace"], root["id"], False))
    for resource, scope, _ in export.bodies("traces"):
        check_resource(export, resource)
        check_scope(export, scope)
    check_all_metrics(export)
    check_headers(export)
    return f"{len(spans)} spans, {len(list(export.bodies('metrics')))} " \
        f"exports of metrics, {len(export.requests())} requests"


def exported(receiver, name, transport):
    def case():
        return check_export(Export(receiver, transport))
    case.__name__ = f"{name}_gets_everything_over_{transport}"
    return case


def other_cases(elastic, connect):
    def a_parent_from_the_environment_is_the_root():
        export = Export(connect, "grpc", TRACESTATE="vendor=1,other=2",
                        TRACEPARENT=f"00-{TRACE}-{PARENT}-01")
        spans = export.spans(export.driven.outcome["spans"])
        check_spans(export.driven.events, spans,
                    expect.Trace(TRACE, PARENT, True, "vendor=1,other=2"))

    def a_parent_that_is_not_sampled_leaves_nothing_but_its_own():
        export = Export(connect, "grpc", "--settle 500",
                        TRACEPARENT=f"00-{TRACE}-{PARENT}-00")
        own = [event for event in export.driven.events
               if event["parent_trace"].strip("0")]
        check_spans(own, export.spans(2 * len(own)),
                    expect.Trace(TRACE, PARENT, True))
        assert export.driven.balance() == (2 * len(own), 0, 0, 0)

    def nothing_is_sent_when_the_sampler_is_off():
        export = Export(connect, "http", "--settle 500",
                        OTEL_TRACES_SAMPLER="always_off")
        assert export.spans(0) == []
        assert connect.peer.until(lambda: list(export.bodies("metrics"))), \
            "metrics are not sampled"

    def a_recorded_machine_with_gpus_is_told_in_the_resource():
        folder = f"{FIXTURES}/machines/xeon-h200-16"
        export = Export(connect, "http", f"--machine {folder} --events 4")
        assert export.driven.machine["gpu"], "it has lost its GPU"
        for resource, _, _ in export.bodies("traces"):
            check_resource(export, resource)

    def parent_and_child_after_a_fork_both_deliver_all():
        return check_fork(Export(connect, "grpc+tls", "--fork"))

    def each_signal_goes_to_an_endpoint_of_its_own():
        port = elastic.ports["grpc"]
        export = Export(
            connect, "http",
            OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"http://localhost:{port}",
            OTEL_EXPORTER_OTLP_TRACES_PROTOCOL="grpc")
        assert connect.peer.until(lambda: list(export.bodies("metrics")))
        assert not list(export.bodies("traces"))
        export.receiver = elastic
        export.spans(export.driven.outcome["spans"] + 1)
        assert not list(export.bodies("metrics"))

    cases = [value for value in locals().values() if callable(value)]
    if not FORKS:
        cases.remove(parent_and_child_after_a_fork_both_deliver_all)
    return cases


def resource_attribute(resource, key):
    return expect.read_attributes(resource)[key]


def check_fork(export):
    """One trace; the child's root is a child of the parent's, and nothing that
    waited before the fork is sent twice."""
    fed = sum(outcome["spans"] for outcome in export.driven.outcomes)
    spans = export.spans(fed + 2)
    roots = [span for span in spans if span["name"] == "takt_compute"]
    outer, = [root for root in roots if root["parent"] is None]
    inner, = [root for root in roots if root["parent"] == outer["id"]]
    assert inner["trace"] == outer["trace"]
    pids = {resource_attribute(resource, "process.pid")
            for resource, _, _ in export.bodies("traces")}
    assert pids == {("int", outcome["pid"])
                    for outcome in export.driven.outcomes}, pids
    assert len({resource_attribute(resource, "service.instance.id")
                for resource, _, _ in export.bodies("traces")}) == 2
    half = len(export.driven.events) // 2
    for root, events in ((outer, export.driven.events[:half]),
                         (inner, export.driven.events[half:])):
        names = {(event["start_ns"], event["end_ns"]) for event in events}
        firsts = [span for span in spans if
                  span["name"].startswith(("backend_", "drift_")) and
                  (span["start"], span["end"]) in names]
        ids = {span["id"] for span in firsts}
        check_spans(events, firsts + [span for span in spans if
                                      span["parent"] in ids],
                    expect.Trace(root["trace"], root["id"], False))


def cases(elastic, connect):
    transports = {
        "elastic": ["grpc", "grpc+gzip", "grpc+tls", "grpc+tls+gzip", "http",
                    "http+tls"],
        "connect": ["grpc", "grpc+gzip", "grpc+tls", "grpc+tls+gzip", "http",
                    "http+gzip", "http+tls", "http+tls+gzip"]}
    if IS_SHORT:
        transports = {"elastic": ["grpc"], "connect": ["http+tls+gzip"]}
    receivers = {"elastic": elastic, "connect": connect}
    made = [exported(receivers[name], name, transport)
            for name, some in transports.items() for transport in some]
    return made + other_cases(elastic, connect)


def main():
    peer.need("protoc", modules=MODULES)
    with tempfile.TemporaryDirectory() as folder:
        protos = f"{MODULES}/@elastic/mockotlpserver"
        descriptors = f"{folder}/otlp.binpb"
        subprocess.run(
            ["protoc", "-I", protos, "--include_imports",
             f"--descriptor_set_out={descriptors}",
             *map(str, pathlib.Path(protos).glob(
                 "opentelemetry/proto/collector/*/v1/*.proto"))], check=True)
        certificates = peer.Certificates(folder)
        elastic = Receiver("elastic.mjs", certificates)
        connect = Receiver("connect.mjs", certificates, descriptors)
        try:
            return peer.run(cases(elastic, connect), 2)
        finally:
            elastic.peer.close()
            connect.peer.close()


sys.exit(main())
