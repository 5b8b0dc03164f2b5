#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `takt top` takes while many programs run, and what it shows of them.

usage: top.py [--programs N] [--seconds S] [--screens] TAKT

N programs (default 50) run under `takt run`: products of NumPy's with pauses,
200 a second by all of them together. When all are shown, the CPU time of
`takt top` is taken over S seconds (default 20), with --json, on a terminal of
80 x 24, and on one of 200 x 60 (both of tmux). --screens prints what is on
these terminals. Other programs of the user that use Takt are shown, too.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

PROGRAM = """
import sys, time
import numpy as np
a = np.ones((160, 160))
while True:
    a @ a
    time.sleep(float(sys.argv[1]))
"""


def cpu_s(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        words = file.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def share(pid, seconds):
    """Of a core, over that time."""
    before, start = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(pid) - before) / (time.monotonic() - start)


class Bench:
    def __init__(self, options):
        self.options = options
        self.takt = os.path.abspath(options.takt)
        self.folder = tempfile.mkdtemp(prefix="takt-top-")
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(("TAKT_", "OTEL_", "TMUX"))}
        self.env.update(XDG_RUNTIME_DIR=self.folder, TMUX_TMPDIR=self.folder,
                        TAKT_DB=os.path.join(self.folder, "store.db"),
                        TERM="xterm-256color")
        self.programs = []

    def start(self):
        path = os.path.join(self.folder, "program.py")
        with open(path, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        pause = str(0.005 * self.options.programs)
        for _ in range(self.options.programs):
            self.programs.append(subprocess.Popen(
                [self.takt, "run", "--", "/usr/bin/python3", path, pause],
                env=self.env))

    def stop(self):
        subprocess.run(["tmux", "kill-server"], env=self.env, check=False,
                       capture_output=True)
        for program in self.programs:
            program.kill()
        for program in self.programs:
            program.wait()
        shutil.rmtree(self.folder)

    def tmux(self, *words):
        return subprocess.run(["tmux", *words], env=self.env, text=True,
                              capture_output=True, check=False).stdout

    def wait_for_all(self, top):
        """Reads objects until all programs are in one."""
        begin = time.monotonic()
        own = {program.pid for program in self.programs}
        for line in top.stdout:
            seen = own & {p["pid"] for p in json.loads(line)["programs"]}
            if len(seen) == len(self.programs):
                return time.monotonic() - begin
            if time.monotonic() - begin > 300:
                sys.exit("only %d programs are shown" % len(seen))
        sys.exit("takt top ended")

    def measure_json(self):
        top = subprocess.Popen([self.takt, "top", "--json"], text=True,
                               stdout=subprocess.PIPE, env=self.env)
        print("all are shown after %.0f s" % self.wait_for_all(top))
        top.terminate()
        top.wait()
        with open(os.devnull, "w", encoding="ascii") as nothing:
            top = subprocess.Popen([self.takt, "top", "--json"],
                                   stdout=nothing, env=self.env)
            time.sleep(3)
            print("--json: %.2f%% of a core" % (100 * share(
                top.pid, self.options.seconds)))
            top.terminate()
            top.wait()

    def measure_screen(self, width, height):
        name = "s%d" % width
        self.tmux("new-session", "-d", "-s", name, "-x", str(width), "-y",
                  str(height), self.takt, "top")
        time.sleep(3)
        pid = int(self.tmux("list-panes", "-t", name, "-F", "#{pane_pid}"))
        print("%d x %d: %.2f%% of a core" % (width, height, 100 * share(
            pid, self.options.seconds)))
        if self.options.screens:
            print(self.tmux("capture-pane", "-p", "-t", name))
        self.tmux("send-keys", "-t", name, "q")
        time.sleep(1)


def main():
    words = argparse.ArgumentParser(
        usage=__doc__.split("usage: ")[1].split("\n")[0])
    words.add_argument("takt")
    words.add_argument("--programs", type=int, default=50)
    words.add_argument("--seconds", type=float, default=20)
    words.add_argument("--screens", action="store_true")
    bench = Bench(words.parse_args())
    try:
        bench.start()
        bench.measure_json()
        bench.measure_screen(80, 24)
        bench.measure_screen(200, 60)
    finally:
        bench.stop()


if __name__ == "__main__":
    main()
