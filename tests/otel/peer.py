# SPDX-License-Identifier: MIT
"""What the tests with real and hostile collectors share: peers in node, the
driver, certificates, and a runner that lets cases wait side by side."""
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def skip(why):
    print(f"1..0 # SKIP {why}")
    sys.exit(SKIPPED)


def need(*programs, modules=None):
    """Ends the program, as skipped, where it cannot run."""
    for program in ("node", "openssl", *programs):
        if shutil.which(program) is None:
            skip(f"{program} is not installed")
    version = subprocess.run(["node", "--version"], capture_output=True,
                             text=True, check=True).stdout
    if int(re.match(r"v(\d+)", version).group(1)) < 20:
        skip(f"node is {version.strip()}, and the peers need 20 or later")
    if modules is not None and not pathlib.Path(modules, "@elastic").is_dir():
        skip(f"the packages are not in {modules}: tools/npm.sh installs them")


class Peer:
    """A program of node's that tells what happens to it, line by line."""

    def __init__(self, script, *words):
        self.child = subprocess.Popen(
            ["node", str(HERE / "peers" / script), *map(str, words)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.told = []
        self.questions = itertools.count(1)
        self.changed = threading.Condition()
        self.saying = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.child.stdout:
            with self.changed:
                self.told.append(json.loads(line))
                self.changed.notify_all()

    def say(self, line):
        with self.saying:
            self.child.stdin.write(json.dumps(line) + "\n")
            self.child.stdin.flush()

    def wait(self, wanted, seconds=200):
        """The first thing told that `wanted` gives something for."""
        until = time.monotonic() + seconds
        with self.changed:
            seen = 0
            while True:
                for line in self.told[seen:]:
                    found = wanted(line)
                    if found:
                        return found
                seen = len(self.told)
                left = until - time.monotonic()
                assert left > 0 and self.child.poll() is None, \
                    "the peer does not tell what is waited for"
                self.changed.wait(min(left, 1))

    def until(self, condition, seconds=100):
        """Waits until it holds, or for so long; it is asked anew whenever
        something was told."""
        end = time.monotonic() + seconds
        with self.changed:
            while not condition():
                left = end - time.monotonic()
                if left <= 0:
                    return False
                self.changed.wait(left)
            return True

    def catch_up(self):
        """Waits for all that it told up to now."""
        number = next(self.questions)
        self.say({"question": number})
        self.wait(lambda line: line.get("answer") == number)

    def close(self):
        self.child.stdin.close()
        self.child.wait(10)
        self.child.stdout.close()


class Collectors:
    """Collectors that answer by a script, all in one program."""

    def __init__(self):
        self.peer = Peer("hostile.mjs")
        self.ids = itertools.count(1)

    def start(self, serve, *script, **more):
        """`more`: tls, port."""
        return Collector(self.peer, {"id": next(self.ids), "serve": serve,
                                     "script": script, **more})

    def close(self):
        self.peer.close()


class Collector:
    def __init__(self, all_of_them, wish):
        self.peer, self.id, self.serve = all_of_them, wish["id"], wish["serve"]
        self.is_secure = "tls" in wish
        self.peer.say(wish)
        self.port = self.peer.wait(lambda told: told.get("id") == self.id and
                                   told.get("port"))

    def told(self, what):
        """Everything of a kind that it told so far. It tells of a request
        before it answers."""
        self.peer.catch_up()
        return [line[what] for line in self.peer.told
                if line.get("id") == self.id and what in line]

    @property
    def requests(self):
        return self.told("request")

    def environment(self, **more):
        scheme = "https" if self.is_secure else "http"
        protocol = "grpc" if self.serve == "grpc" else "http/protobuf"
        return {"OTEL_EXPORTER_OTLP_ENDPOINT":
                f"{scheme}://127.0.0.1:{self.port}",
                "OTEL_EXPORTER_OTLP_PROTOCOL": protocol, **more}


class Driven:
    """What a run of the driver told."""

    def __init__(self, code, lines):
        self.code = code
        self.machine = {}
        self.opened = {}
        self.events, self.metrics, self.outcomes = [], [], []
        for line in map(json.loads, lines):
            self.machine = line.get("machine", self.machine)
            self.opened = line.get("opened", self.opened)
            for key, into in (("event", self.events),
                              ("metrics", self.metrics),
                              ("outcome", self.outcomes)):
                if key in line:
                    into.append(line[key])

    @property
    def outcome(self):
        return self.outcomes[-1]

    def balance(self):
        """Sent, dropped, failed and rejected spans."""
        return tuple(self.outcome[key] for key in
                     ("sent", "dropped", "failed", "rejected"))


def clean_environment(environment):
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith(("OTEL_", "TAKT_", "TRACE")) and
            not key.lower().endswith("_proxy")}
    return {**kept, "TAKT_DB": "", **environment}


def drive(program, words, environment, seconds=250):
    """Runs the driver; it must end by itself and have nothing to complain of,
    such as a sanitizer has."""
    child = subprocess.run([program, *words.split()], text=True,
                           capture_output=True, timeout=seconds,
                           env=clean_environment(environment))
    assert child.returncode == 0, \
        f"drive exits with {child.returncode}: {child.stdout[-2000:]}" \
        f"{child.stderr[-4000:]}"
    assert child.stderr == "", child.stderr
    return Driven(child.returncode, child.stdout.splitlines())


class Certificates:
    """An authority and what it signed, made for one run of the tests."""

    EXTENSIONS = {
        "server": "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "elsewhere": "subjectAltName=DNS:elsewhere.invalid",
        "expired": "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "client": "extendedKeyUsage=clientAuth",
    }

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self._openssl("req -x509 -new -nodes -days 2 -keyout ca.key "
                      "-out ca.pem -subj /CN=authority "
                      "-addext basicConstraints=critical,CA:TRUE")
        self._openssl("req -x509 -new -nodes -days 2 -keyout self.key "
                      "-out self.pem -subj /CN=localhost "
                      "-addext subjectAltName=DNS:localhost,IP:127.0.0.1")
        for name in self.EXTENSIONS:
            self._sign(name)

    def _openssl(self, words):
        kind = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1"
        if words.startswith("req"):
            words += " " + kind
        subprocess.run(["openssl", *words.split()], cwd=self.folder,
                       check=True, capture_output=True)

    def _sign(self, name):
        (self.folder / f"{name}.ext").write_text(self.EXTENSIONS[name] + "\n")
        self._openssl(f"req -new -nodes -keyout {name}.key -out {name}.csr "
                      f"-subj /CN={name}")
        days = -1 if name == "expired" else 2
        self._openssl(f"x509 -req -in {name}.csr -CA ca.pem -CAkey ca.key "
                      f"-CAcreateserial -days {days} -extfile {name}.ext "
                      f"-out {name}.pem")

    def __getitem__(self, name):
        return str(self.folder / name)

    def tls(self, name, **more):
        return {"cert": self[f"{name}.pem"], "key": self[f"{name}.key"], **more}


def sentence(case):
    return case.__name__.replace("_", " ")


def attempt(case):
    began = time.monotonic()
    try:
        notes, trouble = case(), None
    except Exception:  # whatever it is, it is the case's result
        notes, trouble = None, traceback.format_exc(-2)
    return case, notes, trouble, time.monotonic() - began


def run(cases, workers):
    """Runs cases side by side: most of their time is spent on waiting. Prints
    the Test Anything Protocol, and returns the exit status."""
    failed = 0
    print(f"1..{len(cases)}", flush=True)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        done = pool.map(attempt, cases)
        for number, (case, notes, trouble, seconds) in enumerate(done, 1):
            failed += trouble is not None
            print(f"{'not ok' if trouble else 'ok'} {number} - "
                  f"{sentence(case)} # {seconds:.1f} s")
            for line in (trouble or notes or "").splitlines():
                print(f"#   {line}")
            sys.stdout.flush()
    return 1 if failed else 0
