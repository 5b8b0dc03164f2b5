# SPDX-License-Identifier: MIT
"""What a collector must have got, worked out from what the driver fed, in one
form for all collectors: an attribute is a pair of its type and its value."""
import math
import re
import struct

INTERNAL, STATUS_ERROR = 1, 2
HAS_REMOTE, IS_REMOTE = 0x100, 0x200
TOLD = ["slow", "drawn", "explored", "fallback", "drift", "all"]
REASONS = ["static", "fallback", "prior", "forced", "only", "model",
           "explore", "pinned"]
MOST = 2 ** 63 - 1


def text(told):
    """A string of the driver's: bytes told as Latin-1, which are UTF-8 but for
    what nobody can read. How many marks stand for that is free."""
    return marked(told.encode("latin-1").decode("utf-8", "replace"))


def marked(string):
    return re.sub("\ufffd+", "\ufffd", string)


def real(number):
    """A double, to the bit; JSON's peers tell some of them by name."""
    number = float(number)
    return "NaN" if math.isnan(number) else struct.pack(">d", number).hex()


def attribute(value):
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int):
        return ("int", value)
    if isinstance(value, float):
        return ("double", real(value))
    if isinstance(value, list):
        return ("array", [attribute(item) for item in value])
    return ("string", value)


def attributes(**named):
    """None: not there. "__" in a name stands for "."."""
    return {key.replace("__", "."): attribute(value)
            for key, value in named.items() if value is not None}


def known(number):
    return float(number) if number >= 0 else None


# ---- what a collector tells -------------------------------------------------

def any_value(value):
    (kind, inner), = value.items()
    if kind == "stringValue":
        return ("string", marked(inner))
    if kind == "intValue":
        return ("int", int(inner))
    if kind == "doubleValue":
        return ("double", real(inner))
    if kind == "boolValue":
        return ("bool", inner)
    assert kind == "arrayValue", kind
    return ("array", [any_value(item) for item in inner.get("values", [])])


def read_attributes(message):
    pairs = message.get("attributes", [])
    read = {pair["key"]: any_value(pair["value"]) for pair in pairs}
    assert len(read) == len(pairs), "an attribute is there twice"
    return read


def read_span(span):
    status = span.get("status") or {}
    known_fields = {"traceId", "spanId", "parentSpanId", "name", "kind",
                    "startTimeUnixNano", "endTimeUnixNano", "attributes",
                    "status", "flags", "traceState"}
    assert {key for key, value in span.items() if value != []} <= \
        known_fields, span
    return {
        "trace": span["traceId"], "id": span["spanId"],
        "parent": span.get("parentSpanId") or None,
        "name": marked(span["name"]), "kind": span["kind"],
        "start": int(span["startTimeUnixNano"]),
        "end": int(span["endTimeUnixNano"]),
        "status": (status.get("code", 0), status.get("message", "")),
        "flags": span.get("flags", 0), "state": span.get("traceState", ""),
        "attributes": read_attributes(span),
    }


# ---- spans ------------------------------------------------------------------

def fallback_cause(event):
    if event["refused"]:
        return f"{event['refused']}: {event['refusal']}"
    if event["reason"] == "fallback":
        return "the rule's backend is not there"
    return None


def selection_attributes(event):
    return attributes(
        operation=text(event["op"]),
        input_size=min(event["elements"], MOST),
        selected_backend=event["backend"],
        has_history=bool(event["has_history"]),
        decision_type="historical" if event["has_history"] else "heuristic",
        takt__expert=event["expert"], takt__reason=event["reason"],
        takt__predicted_s=known(event["predicted_s"]),
        takt__actual_s=float(event["actual_s"]),
        takt__confidence=known(event["confidence"]),
        takt__runner_up=event["runner_up"] or None,
        takt__residency=event["residency"],
        takt__explored=event["reason"] == "explore",
        takt__drift=bool(event["told"] & 16),
        takt__fallback_cause=fallback_cause(event),
        takt__dtype=event["dtype"], takt__shape=event["shape"] or None,
        takt__told=[name for bit, name in enumerate(TOLD)
                    if event["told"] >> bit & 1] or None,
        thread__id=event["thread_id"])


def run_attributes(event):
    is_gpu = event["backend"] == "gpu"
    return attributes(
        operation=text(event["op"]), takt__expert=event["expert"],
        takt__backend=event["backend"], takt__threads=event["threads"] or None,
        takt__bytes=known(event["bytes"]), takt__flops=known(event["flops"]),
        hw__type="gpu" if is_gpu else None,
        hw__name=text(event["device"]) or None if is_gpu else None)


def drift_attributes(event):
    return attributes(
        operation=text(event["op"]), takt__expert=event["expert"],
        selected_backend=event["backend"], takt__dtype=event["dtype"],
        input_size=min(event["elements"], MOST),
        takt__before_s=float(event["predicted_s"]),
        takt__after_s=float(event["actual_s"]), takt__drift=True)


class Trace:
    """The spans that must come of events, given those that came."""

    def __init__(self, trace, root, is_remote, state=""):
        self.trace, self.root, self.state = trace, root, state
        self.flags = 1 | HAS_REMOTE | (IS_REMOTE if is_remote else 0)

    def span(self, event, name, **more):
        has_parent = event["parent_trace"].strip("0") != ""
        status = (0, "") if event["status"] == 0 or event["kind"] == 1 else \
            (STATUS_ERROR, event["status_text"])
        return {
            "trace": event["parent_trace"] if has_parent else self.trace,
            "parent": event["parent_span"] if has_parent else self.root,
            "name": f"{name}: {text(event['op'])}", "kind": INTERNAL,
            "end": event["end_ns"], "status": status,
            "flags": 1 if has_parent else self.flags, # nobody said whose it is
            "state": "" if has_parent else self.state, **more}

    def of(self, event):
        """Without their ids, but the second one's parent is the first."""
        if event["kind"] == 1:
            return [self.span(event, "drift_alarm", start=event["end_ns"],
                              attributes=drift_attributes(event))]
        run = "gpu_kernel" if event["backend"] == "gpu" else "compute_block"
        return [
            self.span(event, "backend_selection", start=event["start_ns"],
                      attributes=selection_attributes(event)),
            self.span(event, run, start=event["run_ns"], parent="the first",
                      flags=1 | HAS_REMOTE, attributes=run_attributes(event))]


# ---- metrics ----------------------------------------------------------------

def counter(unit, points, kind="int"):
    return {"kind": "sum", "unit": unit, "points": {
        key: (kind, real(value) if kind == "double" else value)
        for key, value in points.items()}}


def gauge(unit, points, kind="int"):
    return {**counter(unit, points, kind), "kind": "gauge"}


def point(**named):
    return tuple(sorted(attributes(**named).items()))


def expected_metrics(fed):
    by_op = [(point(operation=text(op["op"])), op) for op in fed["op"]]
    were_hot = [(key, op) for key, op in by_op
                if op["is_hot"] or op["times_hot"] > 0]
    return {
        "takt.calls": counter("{call}", {k: op["calls"] for k, op in by_op}),
        "takt.call_rate": gauge("{call}/s", {
            key: op["calls_per_s"] for key, op in by_op}, "double"),
        "takt.hot": gauge("1", {key: op["is_hot"] for key, op in were_hot}),
        "takt.hot.transitions": counter("{transition}", {
            key: op["times_hot"] for key, op in were_hot}),
        "takt.decisions": counter("{decision}", {
            point(takt__reason=name): count
            for name, count in zip(REASONS, fed["decisions"]) if count > 0}),
        "takt.explorations": counter("{call}", {(): fed["explorations"]}),
        "takt.fallbacks": counter("{call}", {(): fed["fallbacks"]}),
        "takt.drift_alarms": counter("{alarm}", {(): fed["drift_alarms"]}),
        "takt.exploration.time": counter("s", {
            (): fed["exploring_s"]}, "double"),
        "takt.events": counter("{event}", {(): fed["told"]}),
        "takt.samples.dropped": counter("{sample}", {
            (): fed["samples_dropped"]}),
        "takt.duration": {"kind": "histogram", "unit": "s", "points": {
            point(operation=text(one["op"]), takt__expert=one["expert"],
                  takt__backend=one["backend"]):
            (one["calls"], real(one["seconds"]), real(one["least_s"]),
             real(one["most_s"]), one["in_class"],
             [real(bound) for bound in fed["bounds"]])
            for one in fed["duration"]}},
    }


def read_number(message):
    if "asInt" in message:
        return ("int", int(message["asInt"]))
    return ("double", real(message["asDouble"]))


def read_histogram(message):
    return (int(message["count"]), real(message["sum"]), real(message["min"]),
            real(message["max"]), [int(n) for n in message["bucketCounts"]],
            [real(bound) for bound in message["explicitBounds"]])


def read_metric(metric, start, now):
    kind, = {"sum", "gauge", "histogram"} & set(metric)
    inner = metric[kind]
    if kind != "gauge":
        assert inner["aggregationTemporality"] == 2, "not cumulative"
    assert kind != "sum" or inner["isMonotonic"] is True
    read = read_histogram if kind == "histogram" else read_number
    points = {}
    for one in inner["dataPoints"]:
        key = tuple(sorted(read_attributes(one).items()))
        assert key not in points, f"two points of {metric['name']} for {key}"
        assert int(one["timeUnixNano"]) == now
        assert kind == "gauge" or int(one["startTimeUnixNano"]) == start
        points[key] = read(one)
    return {"kind": kind, "unit": metric.get("unit", ""), "points": points}
