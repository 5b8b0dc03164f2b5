#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`takt trace` as a user meets it: files, running programs, commands.

usage: test_trace.py PATH_TO_TAKT [PATH_TO_LIBTAKT.SO]
"""
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

TAKT = sys.argv[1]
LIBRARY = sys.argv[2] if len(sys.argv) > 2 else None
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from trace_records import *  # noqa: E402,F403
def setUpModule():
    """What is preloaded into commands: nothing but the sign of the library, but
    for tests about it; a library with sanitizers cannot be."""
    global SHARED
    SHARED = tempfile.TemporaryDirectory(dir="/tmp")
    library = os.path.join(SHARED.name, "libnothing.so")
    subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", library], text=True,
                   input='const char sign[] = "TAKT_RUN_STATS";', check=True,
                   timeout=600)
    os.environ["TAKT_RUN_PRELOAD"] = library


def tearDownModule():
    SHARED.cleanup()


def takt(words, **options):
    return subprocess.run([TAKT, "trace", *words], capture_output=True,
                          text=True, timeout=600, **options)


def wait_for(condition, seconds=100):
    limit = time.monotonic() + seconds
    while not (is_met := condition()) and time.monotonic() < limit:
        time.sleep(0.01)
    return is_met


def read_all(terminal):
    """What a terminal shows until its other end is closed: the kernel hands
    it over in pieces."""
    shown = b""
    try:
        while more := os.read(terminal, 65536):
            shown += more
    except OSError:
        pass  # the other end is closed
    os.close(terminal)
    return shown


class Scratch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, content, name="a.trace"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as out:
            out.write(content)
        return path

    def show(self, content, *words):
        ran = takt([*words, self.file(content)])
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return ran.stdout

    def rows(self, content, *words):
        return [json.loads(line) for line in self.show(
            content, "--format", "json", *words).splitlines()]


WHOLE = (header() + event() + event(at=5, told=DRAWN, took=2e-6) +
         op_metric("matmul", 1000) +
         duration("matmul", "simd.avx2", 1, 750, 0.5) +
         duration("matmul", "cuda.0", 2, 250, 0.25, most=0.125) +
         totals(explorations=3, told=2) + end())


class Lines(Scratch):
    def line(self, **members):
        return self.show(header() + event(**members)).splitlines()[1]

    def test_a_line_says_what_who_how_long_and_why(self):
        self.assertRegex(
            self.line(at=250),
            r"^ +0\.2500 +matmul +64x32x16 +simd\.avx2 +1 ms +model +slow$")

    def test_causes(self):
        for members, said in (
                (dict(told=DRAWN), "sampled"),
                (dict(told=EXPLORED, reason=EXPLORE), "explore  explored"),
                (dict(told=SLOW | FALLBACK, refused="cuda.0", refusal=2),
                 "fell back from cuda.0: out of memory; slow"),
                (dict(told=FALLBACK, reason=FELL_BACK), "fell back: the rule"),
                (dict(told=DRIFT), "changed its speed"),
                (dict(status=2), "failed: out of memory"),
                (dict(took=4e-3), "4x as long as expected (1 ms)"),
                (dict(took=1e-4), "10x as fast as expected (1 ms)"),
                (dict(dtype=1), "64x32x16 f64"),
                (dict(shape=()), "2,048")):
            self.assertIn(said, self.line(**members))
        for members in (dict(took=1.4e-3), dict(expected=-1)):
            self.assertNotIn("expected", self.line(**members))

    def test_a_change_of_speed_is_a_sentence(self):
        self.assertIn(
            "simd.avx2 has changed its speed for matmul of about 2,048 "
            "elements (f32): 3 ms, was 1 ms, 3 times as slow",
            self.line(drift=True, took=3e-3, shape=()))

    def test_an_op_that_becomes_hot_and_cools(self):
        shown = self.show(header() + op_metric("add", 5) +
                          op_metric("add", 50000, True, 1, 50000) +
                          op_metric("add", 60000, True, 1, 50001) +
                          op_metric("add", 60001, False, 1, 3))
        self.assertEqual(shown.count("add is hot: 50,000 calls/s"), 1)
        self.assertEqual(shown.count("is hot"), 1)
        self.assertEqual(shown.count("add has cooled down: 3 calls/s"), 1)

    def test_several_processes_are_told_apart(self):
        shown = self.show(header() + header(2, 4343, "other") + event() +
                          event(stream=2))
        self.assertIn("process 4242: train, Takt 0.1.0", shown)
        self.assertIn("process 4343: other", shown)
        self.assertRegex(shown, r"0\.0000  4242 +matmul")
        self.assertRegex(shown, r"0\.0000  4343 +matmul")

    def test_names_cannot_command_a_terminal(self):
        shown = self.show(header(program="x\033[2J") +
                          event(op=b"a\x1b]0;b\x07\xff"))
        self.assertNotIn("\033", shown)
        self.assertIn("a?]0;b??", shown)

    def test_no_colour_in_files(self):
        self.assertNotIn("\033", self.show(WHOLE))

    def test_colour_on_a_terminal_unless_it_is_not_wanted(self):
        path = self.file(header() + event(told=EXPLORED))
        for env, wants in (({}, True), ({"NO_COLOR": "1"}, False)):
            try:
                ours, theirs = os.openpty()
            except OSError as problem:
                self.skipTest(f"there are no terminals here: {problem}")
            env = {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"},
                   **env}
            subprocess.run([TAKT, "trace", path], stdout=theirs, env=env,
                           timeout=600, check=True)
            os.close(theirs)
            shown = read_all(ours)
            self.assertEqual(b"\033[36mexplored" in shown, wants)

    def test_json_has_every_member(self):
        rows = self.rows(header() + event(
            told=SLOW | FALLBACK, refused="cuda.0", refusal=2))
        self.assertEqual(len(rows), 2)
        row = rows[0]
        self.assertEqual(
            (row["event"], row["pid"], row["op"], row["shape"], row["told"]),
            ("call", 4242, "matmul", [64, 32, 16], ["slow", "fallback"]))
        self.assertEqual(
            (row["backend"], row["expert"], row["reason"], row["refused"],
             row["refusal"], row["actual_s"], row["runner_up"]),
            ("simd", "simd.avx2", "model", "cuda.0", "out of memory", 1e-3,
             "scalar"))
        self.assertIsNone(row["error"])
        self.assertEqual(rows[1]["event"], "summary")


class Otlp(Scratch):
    """Requests in JSON. The spans themselves are tested with the exporter."""

    def requests(self, content):
        ran = takt(["--format", "otlp", self.file(content)])
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return [json.loads(line) for line in ran.stdout.splitlines()]

    def spans(self, content):
        return [span for request in self.requests(content)
                for resource in request["resourceSpans"]
                for scope in resource["scopeSpans"]
                for span in scope["spans"]]

    def test_calls_are_spans_below_that_of_their_process(self):
        content = header() + event(took=2e-3, at=5)
        chosen, ran, root = self.spans(content)
        self.assertEqual([span["name"] for span in (chosen, ran, root)],
                         ["backend_selection: matmul",
                          "compute_block: matmul", "takt_compute"])
        self.assertEqual(chosen["parentSpanId"], root["spanId"])
        self.assertEqual(ran["parentSpanId"], chosen["spanId"])
        self.assertNotIn("parentSpanId", root)
        self.assertEqual({span["traceId"] for span in (chosen, ran)},
                         {root["traceId"]})
        self.assertEqual(int(chosen["endTimeUnixNano"]) -
                         int(chosen["startTimeUnixNano"]), 2000000)
        # Converting it again gives the same ids.
        self.assertEqual(self.spans(content), [chosen, ran, root])

    def test_every_process_is_a_resource(self):
        found = self.requests(header() + header(2, 4343, "other") + event() +
                              event(stream=2) * 600)
        self.assertEqual(len(found), 4)  # 512 spans each, and the rest
        seen = {}
        for request in found:
            resource, = request["resourceSpans"]
            names = {one["key"]: one["value"]
                     for one in resource["resource"]["attributes"]}
            scope, = resource["scopeSpans"]
            program = names["service.name"]["stringValue"]
            seen.setdefault(program, []).extend(scope["spans"])
        self.assertEqual({name: len(spans) for name, spans in seen.items()},
                         {"train": 3, "other": 1201})
        self.assertEqual(len({span["spanId"] for spans in seen.values()
                              for span in spans}), 1204)
        self.assertEqual(len({span["traceId"] for spans in seen.values()
                              for span in spans}), 2)

    def test_names_are_text(self):
        self.assertIn("a\ufffd", self.spans(header() + event(op=b"a\xff"))[0]
                      ["name"].replace("?", "\ufffd"))


class Chrome(Scratch):
    """The Trace Event Format: what viewers ask of every event."""

    def events(self, content):
        ran = takt(["--format", "chrome", self.file(content)])
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        whole = json.loads(ran.stdout)
        self.assertEqual(set(whole), {"displayTimeUnit", "traceEvents"})
        self.assertEqual(whole["displayTimeUnit"], "ns")
        for one in whole["traceEvents"]:
            self.assertIsInstance(one["name"], str)
            self.assertIsInstance(one["args"], dict)
            self.assertIsInstance(one["pid"], int)
            self.assertIsInstance(one["tid"], int)
            self.assertIn(one["ph"], "XiM")
            if one["ph"] != "M":
                self.assertGreaterEqual(one["ts"], 0)
            if one["ph"] == "X":
                self.assertGreaterEqual(one["dur"], 0)
            if one["ph"] == "i":
                self.assertIn(one["s"], "gpt")
        return whole["traceEvents"]

    def test_calls_are_complete_events_of_their_thread(self):
        name, call = self.events(header() + event(took=2e-3, at=5))
        self.assertEqual((name["ph"], name["name"], name["pid"],
                          name["args"]["name"]),
                         ("M", "process_name", 4242, "train"))
        self.assertEqual((call["ph"], call["pid"], call["tid"], call["ts"],
                          call["dur"], call["name"]),
                         ("X", 4242, 77, 5000.0, 2000.0, "matmul"))
        self.assertEqual(call["args"]["shape"], "64x32x16")
        self.assertEqual(call["args"]["expert"], "simd.avx2")
        self.assertEqual(call["args"]["predicted_us"], 1000)

    def test_changes_are_instants(self):
        found = self.events(header() + event(drift=True, shape=())
                            + op_metric("exp", 9, hot=True, times_hot=1))
        self.assertEqual([one["name"] for one in found if one["ph"] == "i"],
                         ["change of speed", "hot"])

    def test_names_of_others_and_damage_leave_it_whole(self):
        content = header(program='a"b\x1b\n') + event(op='</x>"\\', told=ALL)
        self.assertEqual(self.events(content)[1]["name"], '</x>"\\')
        for length in range(len(header()), len(content), 7):
            self.events(content[:length])


class Summary(Scratch):
    def test_calls_and_shares_are_those_of_metrics(self):
        summary = self.rows(WHOLE, "--summary")[-1]
        op = summary["ops"][0]
        self.assertEqual((op["op"], op["calls"], op["is_exact"], op["told"],
                          op["sampled"]), ("matmul", 1000, True, 2, 1))
        self.assertEqual(op["share"], {"scalar": 0, "simd": 0.75, "gpu": 0.25})
        self.assertEqual((op["seconds"], op["slowest_s"]), (0.75, 0.125))
        self.assertEqual((summary["explorations"], summary["streams"],
                          summary["ended"]), (3, 1, 1))

    def test_metrics_are_sums_and_not_added_twice(self):
        content = header() + header(2)
        for calls in (10, 20, 30):
            content += op_metric("add", calls) + duration(
                "add", "scalar", 0, calls, calls * 1e-3)
        content += op_metric("add", 7, stream=2) + duration(
            "add", "scalar", 0, 7, 7e-3, stream=2)
        op = self.rows(content, "--summary")[-1]["ops"][0]
        self.assertEqual(op["calls"], 37)
        self.assertAlmostEqual(op["seconds"], 37e-3)

    def test_the_speedup_is_predicted_from_a_model(self):
        summary = self.rows(WHOLE, "--summary", "--db", "")[-1]
        self.assertEqual(summary["schema"], 2)
        self.assertRegex(summary["baseline"], r"^simd\.")
        self.assertGreater(summary["ops"][0]["predicted_speedup"], 0)
        shown = self.show(WHOLE, "--summary")
        self.assertRegex(shown, r"matmul +1,000 +0\.0% +75\.0% +25\.0% "
                                r"+750 ms +[0-9.]+x +125 ms")
        self.assertRegex(shown, r"\npredicted: times as fast as one thread of "
                                r"simd\.")
        self.assertNotIn("gain", shown)

    def test_a_speedup_of_little_is_not_told(self):
        content = (header() + event(told=EXPLORED, expert="scalar", took=1e-3) +
                   duration("matmul", "scalar", 0, 1, 1e-3) +
                   duration("matmul", "simd.avx2", 1, 99, 99e-3))
        op = self.rows(content, "--summary")[-1]["ops"][0]
        self.assertIsNone(op["predicted_speedup"])
        self.assertAlmostEqual(op["speedup_covers"], 0.01)

    def test_an_op_nobody_knows_has_no_speedup(self):
        content = header() + event(op="my:op")
        row = self.rows(content, "--summary")[-1]["ops"][0]
        self.assertIsNone(row["predicted_speedup"])
        self.assertRegex(self.show(content, "--summary"),
                         r"my:op +>=1 +- +- +- +- +- ")

    def test_what_was_explored_refused_and_dropped_is_counted(self):
        content = (header() + event(reason=EXPLORE, told=EXPLORED) +
                   event(told=FALLBACK) + event(drift=True, shape=()) +
                   totals(dropped=2) + end(dropped=5))
        summary = self.rows(content, "--summary")[-1]
        op = summary["ops"][0]
        self.assertEqual((op["explored"], op["fell_back"], op["drifts"]),
                         (1, 1, 1))
        self.assertEqual(summary["dropped"], 7)

    def test_one_op_alone(self):
        content = (WHOLE[:-len(end())] + event(op="add") +
                   op_metric("add", 9) + end())
        rows = self.rows(content, "--op", "add")
        self.assertEqual([row.get("op") for row in rows[:-1]], ["add"])
        self.assertEqual([row["op"] for row in rows[-1]["ops"]], ["add"])

    def test_output_goes_elsewhere(self):
        out = os.path.join(self.folder, "out")
        ran = takt(["--output", out, self.file(WHOLE)])
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))
        with open(out) as file:
            self.assertIn("64x32x16", file.read())

    def test_the_trace_itself_is_not_written_over(self):
        trace = self.file(WHOLE)
        for link in (os.symlink, os.link):
            other = os.path.join(self.folder, link.__name__)
            link(trace, other)
            for out in (trace, other):
                ran = takt(["--format", "chrome", "--output", out, trace])
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                self.assertIn("is the trace that is to be read", ran.stderr)
                with open(trace, "rb") as file:
                    self.assertEqual(file.read(), WHOLE)


class Damage(Scratch):
    def test_every_cut_is_read_as_far_as_it_goes(self):
        first = len(header())
        for cut in range(first, len(WHOLE), 101):
            summary = self.rows(WHOLE[:cut])[-1]
            whole = cut in (len(header()), len(header() + event()))
            self.assertEqual(summary["is_cut_off"], not whole, cut)
        self.assertFalse(self.rows(WHOLE)[-1]["is_cut_off"])
        self.assertIn("cut off", self.show(WHOLE[:-1]))

    def test_damage_in_the_middle_is_passed_over(self):
        content = header() + event() + b"rubbish" + event(at=9) + end()
        rows = self.rows(content)
        self.assertEqual([row["event"] for row in rows],
                         ["call", "call", "summary"])
        self.assertEqual(rows[-1]["damaged_bytes"], 7)

    def test_records_of_a_later_version_are_passed_over(self):
        content = header() + record(99, b"?" * 50) + event() + end()
        rows = self.rows(content)
        self.assertEqual(len(rows), 2)
        self.assertEqual(rows[-1]["left_out"], 1)

    def test_a_stream_of_a_later_version_beside_ours(self):
        content = (header() + header(2, version=2) + event() +
                   event(stream=2) + end())
        self.assertEqual([row["event"] for row in self.rows(content)],
                         ["call", "summary"])

    def test_mistakes_are_named(self):
        for words, said in (
                ([self.file(b"hello, world\n" * 9, "b")], "is not a trace"),
                ([self.file(event(), "c")], "is not a trace"),
                ([self.file(b"", "d")], "is empty"),
                ([self.file(header()[:30], "e")], "cut off"),
                ([self.file(header(version=7, takt="9.1.0"), "f")],
                 "Takt 9.1.0"),
                ([self.folder], "not a file"),
                (["/no/such/file"], "No such file"),
                (["999999999"], "no process 999999999"),
                (["99999999999999999999"], "no process"),
                (["0"], "no process 0"),
                (["--follow", "1"], "--follow is for files"),
                (["--for", "0", "x"], "--for"),
                (["--for", "soon", "x"], "--for"),
                (["--format", "xml", "x"], "text|json"),
                (["--record", "y", "x"], "--record"),
                (["--all", "x"], "TAKT_TRACE_DEBUG"),
                (["--output", "/no/such/x", "x"], "cannot be written"),
                (["--output", self.file(b"SQLite format 3\0...", "g"), "x"],
                 "is a database"),
                (["a", "b c"], "did you mean: takt trace -- a 'b c'"),
                (["ls"], "a command comes after --"),
                (["--as-is", "x"], "--as-is is for a command"),
                (["--"], "no command"),
                (["x", "--", "y"], "cannot both"),
                ([], "needs")):
            with self.subTest(words):
                ran = takt(words)
                self.assertEqual((ran.returncode, ran.stdout), (2, ""))
                self.assertEqual(ran.stderr.count("\n"), 1, ran.stderr)
                self.assertIn(said, ran.stderr)

    @unittest.skipIf(os.geteuid() != 0 and not os.path.exists("/proc/1"),
                     "no process of others")
    def test_a_process_of_somebody_else(self):
        options = {"user": 65534} if os.geteuid() == 0 else {}
        try:
            ran = takt(["1"], **options)
        except PermissionError:
            self.skipTest("the tool cannot be run by somebody else")
        self.assertEqual(ran.returncode, 2)
        self.assertIn("is not yours", ran.stderr)

    @unittest.skipIf(os.geteuid() != 0, "only root can give links away")
    def test_output_follows_no_link_of_somebody_else(self):
        kept = self.file(b"mine", "kept")
        link = os.path.join(self.folder, "link")
        os.symlink(kept, link)
        os.lchown(link, 65534, 65534)
        for option in ("--output", "--record"):
            ran = takt([option, link, "--", "true"])
            self.assertEqual(ran.returncode, 2, ran.stderr)
            self.assertIn("Permission denied", ran.stderr)
        self.assertEqual(os.path.getsize(kept), 4)
        ran = takt(["--output", "/dev/stdout", "--", "true"])
        self.assertEqual(ran.returncode, 0, ran.stderr)


class Reader:
    """takt trace in the background, with its lines."""

    def __init__(self, test, *words, **options):
        self.ran = subprocess.Popen(
            [TAKT, "trace", *words], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, **options)
        self.out, self.err = [], []
        self.threads = [
            threading.Thread(target=self.keep, args=(stream, lines))
            for stream, lines in ((self.ran.stdout, self.out),
                                  (self.ran.stderr, self.err))]
        for thread in self.threads:
            thread.start()
        test.addCleanup(self.clean_up)

    @staticmethod
    def keep(stream, lines):
        with stream:
            for line in stream:
                lines.append(line)

    def clean_up(self):
        self.ran.kill()
        self.ran.wait()
        for thread in self.threads:
            thread.join()

    def end(self, number=signal.SIGINT):
        self.ran.send_signal(number)
        return self.ran.wait(20)


class Files(Scratch):
    def test_follow_goes_on_as_the_file_grows(self):
        path = self.file(b"")
        reader = Reader(self, "--follow", path)
        time.sleep(0.3)
        whole = header() + event() + event(op="add", at=7)
        for at in range(0, len(whole), 100):
            with open(path, "ab") as out:
                out.write(whole[at:at + 100])
            time.sleep(0.02)
        self.assertTrue(wait_for(lambda: any("add" in x for x in reader.out)))
        self.assertEqual(reader.end(), 0)
        self.assertTrue(wait_for(
            lambda: any("2 were emitted" in x for x in reader.out)))

    def test_follow_ends_in_time(self):
        ran = takt(["--follow", "--for", "0.3", self.file(WHOLE)])
        self.assertEqual(ran.returncode, 0)
        self.assertIn("1,000 calls", ran.stdout)


# Connects where it is told to, and hands the connection on: who connected is
# what the other end sees.
CONNECTOR = """
import os, socket, sys
control = socket.socket(fileno=int(sys.argv[1]))
while word := control.recv(4096):
    if word == b"fork":
        child = os.fork()
        if child != 0:
            os._exit(os.waitpid(child, 0)[1])
        control.sendall(b"forked")
        continue
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.connect(word.decode())
    except OSError:
        control.sendall(b"no")
        continue
    socket.send_fds(control, [b"yes"], [sock.fileno()])
    sock.close()
"""


class Attaching(Scratch):
    """What a process that uses Takt says is said by this one, on connections
    that the process made."""

    def setUp(self):
        super().setUp()
        self.control, theirs = socket.socketpair(socket.AF_UNIX,
                                                 socket.SOCK_SEQPACKET)
        self.addCleanup(self.control.close)
        self.program = subprocess.Popen(
            [sys.executable, "-c", CONNECTOR, str(theirs.fileno())],
            pass_fds=[theirs.fileno()])
        theirs.close()
        self.addCleanup(self.program.wait)
        self.addCleanup(self.program.kill)
        self.env = {**os.environ, "XDG_RUNTIME_DIR": self.folder}
        self.place = f"{self.folder}/takt/{self.program.pid}.trace"

    def connect(self):
        """A connection that the program made."""
        self.assertTrue(wait_for(lambda: os.path.exists(self.place)))
        # A socket that is bound is there before anybody listens on it.
        self.assertTrue(wait_for(self.is_open))
        return self.sock

    def is_open(self):
        self.control.sendall(self.place.encode())
        word, handles, _, _ = socket.recv_fds(self.control, 16, 1)
        if word == b"no":
            return False
        self.sock = socket.socket(fileno=handles[0])
        self.addCleanup(self.sock.close)
        return True

    def test_others_cannot_speak_for_the_program(self):
        reader = self.attach()
        tame = self.connect()
        wild = socket.socket(socket.AF_UNIX)
        self.addCleanup(wild.close)
        wild.connect(self.place)
        self.assertEqual(wild.recv(64), b"")  # not even greeted
        tame.sendall(header() + event())
        self.assertTrue(wait_for(lambda: any("64x32" in x for x in reader.out)))
        self.assertEqual(reader.end(), 0)
        self.assertEqual(len([x for x in reader.out if "64x32" in x]), 1)

    def test_a_child_of_the_program_may_speak(self):
        reader = self.attach()
        self.connect()
        self.control.sendall(b"fork")
        self.assertEqual(self.control.recv(16), b"forked")
        sock = self.connect()
        sock.sendall(header(2) + event(stream=2))
        self.assertTrue(wait_for(lambda: any("64x32" in x for x in reader.out)))
        self.assertEqual(reader.end(), 0)

    def attach(self, *words):
        return Reader(self, *words, str(self.program.pid), env=self.env)

    def test_lines_come_at_once_and_a_summary_in_the_end(self):
        reader = self.attach()
        sock = self.connect()
        sock.sendall(header() + event())
        self.assertTrue(wait_for(lambda: any("64x32" in x for x in reader.out)))
        self.assertEqual(reader.end(), 0)
        self.assertTrue(wait_for(
            lambda: any("1 calls in" in x for x in reader.out)))
        self.assertIsNone(self.program.poll())
        self.assertFalse(os.path.exists(self.place))

    def test_the_folder_is_the_users_alone(self):
        self.attach()
        self.connect()
        mode = os.stat(f"{self.folder}/takt").st_mode
        self.assertEqual(mode & 0o777, 0o700)

    def test_the_reader_says_what_it_wants(self):
        for words, wants in (((), 0), (("--all",), 1)):
            reader = self.attach(*words)
            sock = self.connect()
            greeting = sock.recv(4096)
            self.assertEqual(greeting[:4], b"Tk\xf1\n")
            self.assertEqual(greeting[8], GREETING)
            self.assertEqual(greeting[20], wants)
            self.assertEqual(reader.end(), 1)  # nothing was said

    def test_silence_is_told_of(self):
        reader = self.attach()
        self.assertTrue(wait_for(
            lambda: any("is it using Takt" in x for x in reader.err), 10))
        sock = self.connect()
        sock.sendall(header() + event() + end())
        self.assertTrue(wait_for(lambda: any("64x32" in x for x in reader.out)))
        self.assertEqual(reader.end(signal.SIGTERM), 0)

    def test_it_ends_with_the_program(self):
        reader = self.attach()
        sock = self.connect()
        sock.sendall(WHOLE)
        sock.close()
        self.program.kill()  # and nobody has asked how it ended
        self.assertEqual(reader.ran.wait(20), 0)
        self.assertTrue(wait_for(
            lambda: any("1,000 calls" in x for x in reader.out)))

    def test_it_ends_in_time(self):
        for seconds in ("0.5", "5", "50"):  # a busy machine connects late
            reader = self.attach("--for", seconds)
            wait_for(lambda: reader.ran.poll() is not None or
                     (os.path.exists(self.place) and self.is_open()))
            if reader.ran.poll() is None:
                break
        self.sock.sendall(WHOLE)
        self.assertEqual(reader.ran.wait(100), 0)

    def test_one_reader_per_program(self):
        self.attach()
        self.connect()
        ran = takt([str(self.program.pid)], env=self.env)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("being traced already", ran.stderr)

    def test_what_a_killed_reader_left_is_no_obstacle(self):
        reader = self.attach()
        self.connect()
        reader.ran.kill()
        reader.ran.wait()
        self.assertTrue(os.path.exists(self.place))
        again = self.attach()
        self.connect().sendall(WHOLE)
        self.assertTrue(wait_for(lambda: any("64x32" in x for x in again.out)))

    def test_what_is_read_can_be_kept(self):
        kept = os.path.join(self.folder, "kept")
        reader = self.attach("--record", kept, "--summary")
        sock = self.connect()
        wanted = WHOLE + header(2)
        sock.sendall(wanted + event(stream=2)[:-5])
        sock.close()
        # The records are written in order: the header is the last whole one.
        self.assertTrue(wait_for(lambda: os.path.exists(kept) and
                                 os.path.getsize(kept) == len(wanted)))
        self.assertEqual(reader.end(), 0)
        self.assertEqual(os.stat(kept).st_mode & 0o777, 0o600)
        with open(kept, "rb") as file:
            self.assertEqual(file.read(), wanted)

    def test_a_peer_that_talks_nonsense_harms_nobody(self):
        reader = self.attach()
        wild, tame = self.connect(), self.connect()
        wild.sendall(os.urandom(100000))
        tame.sendall(header() + event())
        self.assertTrue(wait_for(lambda: any("64x32" in x for x in reader.out)))
        self.assertEqual(reader.end(), 0)

    def test_an_unsafe_folder_is_not_used(self):
        os.mkdir(f"{self.folder}/takt", 0o700)
        os.chmod(f"{self.folder}/takt", 0o777)
        self.attach("--for", "0.5").ran.wait(20)
        self.assertEqual(os.listdir(f"{self.folder}/takt"), [])


# A program that uses Takt, as far as takt trace can tell.
PLAYER = """
import os, socket, sys
place = os.environ["TAKT_TRACE"]
assert place.startswith("unix:")
sock = socket.socket(socket.AF_UNIX)
sock.connect(place[5:])
sock.sendall(bytes.fromhex(sys.argv[1]))
"""


class Commands(Scratch):
    def play(self, content, then="", words=(), **options):
        return takt([*words, "--", sys.executable, "-c", PLAYER + then,
                     content.hex()], **options)

    def test_lines_go_to_stderr_and_output_stays_clean(self):
        ran = self.play(WHOLE, "print(sys.stdin.read() * 2)", input="hi")
        self.assertEqual((ran.returncode, ran.stdout), (0, "hihi\n"))
        self.assertIn("64x32x16", ran.stderr)
        self.assertIn("1,000 calls", ran.stderr)

    def test_lines_can_go_to_a_file(self):
        out = os.path.join(self.folder, "out")
        ran = self.play(WHOLE, words=("--output", out, "--format", "json"))
        self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""))
        with open(out) as file:
            rows = [json.loads(line) for line in file]
        self.assertEqual([row["event"] for row in rows],
                         ["call", "call", "summary"])

    def test_exit_status_passes_through(self):
        for code in (0, 1, 2, 77, 255):
            self.assertEqual(self.play(WHOLE, f"sys.exit({code})").returncode,
                             code)
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
            ran = self.play(WHOLE, f"os.kill(os.getpid(), {int(number)})")
            self.assertEqual(ran.returncode, 128 + number)
        self.assertEqual(takt(["--", "/no/such/program"]).returncode, 127)
        self.assertEqual(takt(["--", "/etc"]).returncode, 126)
        ran = takt(["--", "sh", "-c", "exit 3"])
        self.assertEqual(ran.returncode, 3)
        self.assertIn("told nothing", ran.stderr)

    def test_a_command_that_does_not_use_takt_has_its_blas_routed(self):
        show = ["printenv", "LD_PRELOAD"]
        library = os.environ["TAKT_RUN_PRELOAD"]
        ran = takt(["--", *show])
        self.assertEqual((ran.returncode, ran.stdout), (0, library + "\n"))
        self.assertIn("made no BLAS calls", ran.stderr)
        ran = takt(["--as-is", "--", *show])
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("does it use Takt?", ran.stderr)
        self.assertIn("as by 'takt run'", self.play(WHOLE).stderr)
        ran = self.play(WHOLE, words=["--as-is"])
        self.assertNotIn("as by 'takt run'", ran.stderr)

    def test_a_command_that_uses_takt_is_left_as_it_is(self):
        program = os.path.join(self.folder, "program")
        subprocess.run(
            ["cc", "-x", "c", "-", "-o", program], text=True, check=True,
            timeout=600, input="#include <stdlib.h>\n#include <stdio.h>\n"
            "static const char *volatile linked = \"libtakt.so.0\";\n"
            "int main(void) { const char *p = getenv(\"LD_PRELOAD\");\n"
            "puts(p && linked ? p : \"none\"); return 0; }\n")
        self.assertEqual(takt(["--", program]).stdout, "none\n")

    def test_words_of_the_command_are_its_own(self):
        ran = takt(["--", "echo", "--help", "--all", "--", *map(str,
                                                               range(100))])
        self.assertEqual(ran.stdout.split()[:3], ["--help", "--all", "--"])
        self.assertEqual(len(ran.stdout.split()), 103)

    def test_signals_are_passed_on(self):
        then = ("import os, signal, time\n"
                "for n in (1, 2, 3, 15):\n"
                "    signal.signal(n, lambda n, _: (os.write(1, b'%d\\n' % n),"
                " sys.exit(n) if n == 15 else 0))\n"
                "os.write(1, b'ready\\n')\n"
                "while True: time.sleep(1)\n")
        reader = Reader(self, "--", sys.executable, "-c", PLAYER + then,
                        WHOLE.hex())
        self.assertTrue(wait_for(lambda: "ready\n" in reader.out))
        for number in (1, 2, 3):
            reader.ran.send_signal(number)
            self.assertTrue(wait_for(lambda: f"{number}\n" in reader.out))
        self.assertEqual(reader.end(signal.SIGTERM), 15)

    def test_the_command_ends_with_its_terminal(self):
        try:
            pid, terminal = pty.fork()
        except OSError as problem:
            self.skipTest(f"there are no terminals here: {problem}")
        if pid == 0:
            os.execv(TAKT, [TAKT, "trace", "--", "sh", "-c",
                            "echo ready; exec sleep 30"])
        shown = b""
        while b"ready" not in shown:
            shown += os.read(terminal, 1024)
        os.close(terminal)
        status = os.waitpid(pid, 0)[1]
        self.assertEqual(os.waitstatus_to_exitcode(status), 129)

    def test_signals_and_pipes_are_as_usual_for_the_command(self):
        ran = takt(["--", sys.executable, "-c",
                    "import signal\n"
                    "print(sorted(signal.pthread_sigmask(0, [])))"])
        self.assertEqual(ran.stdout, "[]\n")
        ran = takt(["--", "sh", "-c", "yes | head -n 1; grep -i "
                                      "'^sigign' /proc/$$/status"])
        self.assertEqual(ran.stdout.splitlines()[0], "y")
        self.assertEqual(int(ran.stdout.split()[-1], 16) & 0x1000, 0)

    def test_time_is_up_for_the_trace_but_not_for_the_command(self):
        # The reader greets, and closes when its time is up.
        ran = self.play(WHOLE, "while sock.recv(4096): pass\nprint('done')\n"
                               "sys.exit(5)", words=("--for", "3"))
        self.assertEqual((ran.returncode, ran.stdout), (5, "done\n"))
        self.assertIn("1,000 calls", ran.stderr)

    def test_children_are_followed_too(self):
        child = [sys.executable, "-c", PLAYER]
        then = (f"import subprocess\nfor i in '23': subprocess.run({child!r} + "
                "[sys.argv[1 + int(i) - 1]])\n")
        ran = takt(["--format", "json", "--", sys.executable, "-c",
                    PLAYER + then, (header() + event()).hex(),
                    (header(2, 2) + event(stream=2)).hex(),
                    (header(3, 3) + event(stream=3)).hex()])
        rows = [json.loads(line) for line in ran.stderr.splitlines()]
        self.assertEqual([row.get("pid") for row in rows],
                         [4242, 2, 3, None])
        self.assertEqual(rows[-1]["streams"], 3)

    def test_nothing_is_left_behind(self):
        before = {name for name in os.listdir("/tmp")
                  if name.startswith("takt-trace-")}
        self.play(WHOLE)
        after = {name for name in os.listdir("/tmp")
                 if name.startswith("takt-trace-")}
        self.assertFalse(after - before)

    def test_lines_that_nobody_reads_do_not_stop_the_command(self):
        read, write = os.pipe()
        os.close(read)
        ran = subprocess.run(
            [TAKT, "trace", "--", sys.executable, "-c",
             PLAYER + "print('done'); sys.exit(9)", WHOLE.hex()],
            stdout=subprocess.PIPE, stderr=write, timeout=600)
        os.close(write)
        self.assertEqual((ran.returncode, ran.stdout), (9, b"done\n"))


# A program that does use Takt: calls until it is told to stop, or so often; it
# may have a child that does the same.
REAL = """
import array, ctypes, os, sys, time
library, calls, forks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
takt = ctypes.CDLL(library)
n = 128
a, b, c = ((ctypes.c_float * (n * n))() for _ in range(3))
size = ctypes.c_size_t
def call(times):
    for _ in range(times):
        assert takt.takt_matmul_f32(size(n), size(n), size(n), a, b, c) == 0
call(1)
print("ready", flush=True)
if forks and os.fork() == 0:
    call(50)
    sys.exit(0)
if forks:
    os.wait()
while calls < 0:
    call(10)
    time.sleep(0.001)
call(calls)
"""


CALLS_BLAS = """
#include <stdio.h>
void dgemm_(const char *, const char *, const int *, const int *, const int *,
            const double *, const double *, const int *, const double *,
            const int *, const double *, double *, const int *);
static double a[4096], c[4096];
int main(void)
{
    const int n = 64;
    const double one = 1, zero = 0;
    for (int i = 0; i < 4096; i++)
        a[i] = 1;
    for (int i = 0; i < 200; i++)
        dgemm_("n", "n", &n, &n, &n, &one, a, &n, a, &n, &zero, c, &n);
    printf("%g\\n", c[5]);
    return 0;
}
"""


def find_blas():
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True,
                            text=True, timeout=600).stdout
    for line in listed.splitlines():
        if line.split()[:1] == ["libblas.so.3"]:
            return line.split()[-1]
    return None


BLAS = find_blas()


def can_load():
    return LIBRARY is not None and subprocess.run(
        [sys.executable, "-c", REAL, LIBRARY, "1", "0"], capture_output=True,
        timeout=600).returncode == 0


@unittest.skipUnless(can_load(), "no library, or one with sanitizers")
class Programs(Scratch):
    def program(self, calls, forks=0):
        return [sys.executable, "-c", REAL, LIBRARY, str(calls), str(forks)]

    def summary(self, lines):
        summary = json.loads(lines[-1])
        self.assertEqual(summary["event"], "summary")
        self.assertEqual([op["op"] for op in summary["ops"]], ["matmul"])
        return summary

    def test_a_command_and_its_forked_child(self):
        ran = takt(["--format", "json", "--all", "--", *self.program(200, 1)])
        self.assertEqual((ran.returncode, ran.stdout), (0, "ready\n"))
        lines = ran.stderr.splitlines()
        summary = self.summary(lines)
        op = summary["ops"][0]
        self.assertEqual((summary["streams"], summary["ended"]), (2, 2))
        self.assertEqual((op["calls"], op["is_exact"]), (251, True))
        self.assertEqual(op["told"] + summary["dropped"], 251)
        self.assertGreater(op["seconds"], 0)
        self.assertAlmostEqual(sum(op["share"].values()), 1)
        row = json.loads(lines[0])
        self.assertEqual((row["op"], row["shape"]), ("matmul", [128] * 3))

    @unittest.skipUnless(BLAS, "there is no libblas.so.3")
    def test_a_program_that_calls_blas_and_knows_nothing_of_takt(self):
        program = os.path.join(self.folder, "program")
        subprocess.run(["cc", "-x", "c", "-", "-x", "none", BLAS, "-o",
                        program], input=CALLS_BLAS, text=True, check=True,
                       timeout=600)
        env = {**os.environ, "TAKT_RUN_EAGER": "1", "TAKT_GPU": ""}
        del env["TAKT_RUN_PRELOAD"]
        ran = takt(["--all", "--", program], env=env)
        self.assertEqual((ran.returncode, ran.stdout), (0, "64\n"), ran.stderr)
        self.assertIn("matmul", ran.stderr)
        self.assertIn("64x64x64", ran.stderr)
        self.assertIn("as by 'takt run'", ran.stderr)

    def test_a_file_of_two_runs(self):
        path = os.path.join(self.folder, "run.trace")
        for _ in range(2):
            subprocess.run(self.program(50), check=True, timeout=600,
                           stdout=subprocess.DEVNULL,
                           env={**os.environ, "TAKT_TRACE": path})
        ran = takt(["--format", "json", path])
        summary = self.summary(ran.stdout.splitlines())
        self.assertEqual((summary["streams"], summary["ended"],
                          summary["ops"][0]["calls"]), (2, 2, 102))

    def test_a_program_that_runs_already(self):
        env = {**os.environ, "XDG_RUNTIME_DIR": self.folder}
        program = subprocess.Popen(self.program(-1), stdout=subprocess.PIPE,
                                   text=True, env=env)
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "ready\n")
        for _ in range(2):  # and again
            reader = Reader(self, "--all", str(program.pid), env=env)
            self.assertTrue(wait_for(
                lambda: any("128x128x128" in x for x in reader.out)))
            self.assertEqual(reader.end(), 0)
        self.assertIsNone(program.poll())


class Help(unittest.TestCase):
    def test_help_has_examples(self):
        ran = takt(["--help"])
        self.assertEqual(ran.returncode, 0)
        for said in ("PID", "-- COMMAND", "--record FILE", "takt trace --for"):
            self.assertIn(said, ran.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
