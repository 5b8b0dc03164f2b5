#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs fuzz targets on all processors until each has tried so many inputs.

usage: tools/fuzz_many.py SECONDS [--runs N] [--targets WORD,...]
                          [--folder FOLDER] [--jobs N] [--continue]
       tools/fuzz_many.py --pack NEW-FOLDER [--targets WORD,...]

The targets are those that were built (`make fuzz`). Whichever has most left
to do, by what its inputs took so far, gets the next processor. In the end, also
when it is told to end early (SIGINT, SIGTERM), there is a line for each: what it
tried, what it found, CPU time of one input. Inputs that were found are kept
beside the log, in FOLDER/found. The sums are kept in FOLDER/tried.json all the
time; --continue counts them in, so that several runs make up the N inputs.

--pack writes what a machine without a compiler needs: the targets, their
libraries, their corpora and this script. There: NEW-FOLDER/fuzz_many.py SECONDS.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

NAMED = "store,recall,stats,trace,state,ignore,pin,history"
HERE = pathlib.Path(__file__).resolve().parent
PIECE_S = 60  # no process runs longer: others may need the processor more

arguments = argparse.ArgumentParser()
arguments.add_argument("seconds", type=int, nargs="?")
arguments.add_argument("--runs", type=int, default=10_000_000)
arguments.add_argument("--targets", default=NAMED, help="'all': every one")
arguments.add_argument("--folder", type=pathlib.Path)
arguments.add_argument("--jobs", type=int, default=os.cpu_count())
arguments.add_argument("--pack", type=pathlib.Path)
arguments.add_argument("--continue", action="store_true", dest="is_continued")
options = arguments.parse_args()
IS_PACKED = (HERE / "corpus").is_dir()
FOLDER = options.folder or (HERE if IS_PACKED
                            else HERE.parent / "build" / "fuzzing" / "fuzz")
TALLY = FOLDER / "tried.json"
INTERRUPTED = 72  # what libFuzzer exits with after SIGINT
SEEDS = HERE / "corpus" if IS_PACKED else HERE.parent / "fuzz" / "corpus"


def chosen():
    names = sorted(path.name for path in FOLDER.glob("fuzz_*")
                   if path.is_file() and os.access(path, os.X_OK)
                   and "." not in path.name)
    if options.targets != "all":
        wanted = {f"fuzz_{word}" for word in options.targets.split(",")}
        missing = wanted - set(names)
        if missing:
            sys.exit(f"fuzz_many: not in {FOLDER}: {', '.join(sorted(missing))}"
                     " (make fuzz builds them)")
        names = sorted(wanted)
    return names


def pack():
    """All but the C library itself, which has to fit its loader."""
    folder = options.pack
    (folder / "lib").mkdir(parents=True)
    for name in chosen():
        subprocess.run(["strip", "-o", folder / name, FOLDER / name],
                       check=True)
        if (SEEDS / name).is_dir():
            shutil.copytree(SEEDS / name, folder / "corpus" / name)
        told = subprocess.run(["ldd", FOLDER / name], check=True, text=True,
                              capture_output=True).stdout
        for library, path in re.findall(r"(\S+) => (/\S+)", told):
            if not re.match(r"lib(c|m|dl|rt|pthread)\.so", library):
                shutil.copyfile(path, folder / "lib" / library)
    (folder / "corpus").mkdir(exist_ok=True)
    shutil.copy(__file__, folder / "fuzz_many.py")
    size = sum(path.stat().st_size for path in folder.rglob("*")
               if path.is_file())
    version = os.confstr("CS_GNU_LIBC_VERSION")
    print(f"{folder}: {size / 2 ** 20:.0f} MiB; needs {version} or later")


class Target:
    def __init__(self, name):
        self.name = name
        self.tried = self.promised = self.found = 0
        self.cpu_s = 0.0
        self.children = set()
        self.corpus = FOLDER / "corpus-found" / name
        self.corpus.mkdir(parents=True, exist_ok=True)

    def input_s(self):
        return self.cpu_s / self.tried if self.tried else 1e-3

    def left_s(self):
        if not self.tried and not self.promised and options.runs:
            return float("inf")  # to know what its inputs take
        return (options.runs - self.tried - self.promised) * self.input_s()

    def piece(self, left_s):
        """How many inputs the next process is to try."""
        wanted = (int(min(PIECE_S, left_s) / self.input_s()) if self.tried
                  else 2000)
        return max(1000, min(wanted, options.runs - self.tried -
                             self.promised))

    def run(self, runs, left_s, seed):
        """Runs a process; what it did is its last words."""
        found = FOLDER / "found"
        found.mkdir(exist_ok=True)
        command = [FOLDER / self.name, f"-runs={runs}", f"-seed={seed}",
                   f"-max_total_time={max(1, int(min(2 * PIECE_S, left_s)))}",
                   "-timeout=25", "-rss_limit_mb=2048", "-verbosity=0",
                   "-print_final_stats=1", "-reload=0",
                   f"-artifact_prefix={found}/{self.name}-", self.corpus]
        if (SEEDS / self.name).is_dir():
            command.append(SEEDS / self.name)
        log = found / f"{self.name}-{seed}.log"
        with open(log, "wb") as out:
            child = subprocess.Popen([str(word) for word in command],
                                     stdout=out, stderr=out,
                                     env=environment())
            self.children.add(child)
            if is_ending.is_set():
                child.send_signal(signal.SIGINT)
            _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.children.discard(child)
        is_found = child.returncode not in (0, INTERRUPTED)
        text = log.read_text(errors="replace")
        tried = re.findall(r"number_of_executed_units: *(\d+)", text)
        if not is_found:
            log.unlink()
        else:
            print(f"{self.name}: ended with {child.returncode}: {log}",
                  flush=True)
        return (int(tried[-1]) if tried else 0, is_found,
                usage.ru_utime + usage.ru_stime)


    def sums(self):
        return {"tried": self.tried, "found": self.found,
                "cpu_s": round(self.cpu_s, 1)}

    def count_in(self, before):
        self.tried += before["tried"]
        self.found += before["found"]
        self.cpu_s += before["cpu_s"]


is_ending = threading.Event()


def end_early(targets):
    """What is running says how far it came, and the report follows."""
    is_ending.set()
    for target in targets:
        for child in list(target.children):
            child.send_signal(signal.SIGINT)


def keep_sums(targets):
    new = TALLY.with_suffix(".new")
    new.write_text(json.dumps({target.name: target.sums()
                               for target in targets}, indent=1) + "\n")
    new.replace(TALLY)


def environment():
    env = dict(os.environ)
    if IS_PACKED:
        env["LD_LIBRARY_PATH"] = str(HERE / "lib")
    return env


def leaks_can_be_found(target):
    """Where processes may not be traced, the leak check itself fails."""
    ran = subprocess.run([FOLDER / target.name, "-runs=1"], text=True,
                         capture_output=True, errors="replace",
                         env=environment())
    return "LeakSanitizer has encountered a fatal error" not in ran.stderr


def work(targets, lock, end, seeds):
    while True:
        with lock:
            left_s = end - time.monotonic()
            todo = [target for target in targets if target.left_s() > 0 and
                    target.found < 5]
            if left_s < 2 or not todo or is_ending.is_set():
                return
            target = max(todo, key=Target.left_s)
            runs = target.piece(left_s)
            target.promised += runs
            seed = next(seeds)
        tried, is_found, cpu_s = target.run(runs, left_s, seed)
        with lock:
            target.promised -= runs
            target.tried += tried
            target.found += is_found
            target.cpu_s += cpu_s
            keep_sums(targets)


def main():
    if options.pack:
        return pack()
    if not options.seconds:
        arguments.error("how many seconds?")
    targets = [Target(name) for name in chosen()]
    if not leaks_can_be_found(targets[0]):
        print("leaks are not looked for: processes may not be traced here")
        os.environ["ASAN_OPTIONS"] = "detect_leaks=0"
    if options.is_continued and TALLY.exists():
        before = json.loads(TALLY.read_text())
        for target in targets:
            target.count_in(before.get(target.name,
                                       {"tried": 0, "found": 0, "cpu_s": 0}))
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end_early(targets))
    lock = threading.Lock()
    begin = time.monotonic()
    seeds = iter(range(int(time.time()) % 10 ** 6 * 1000, 1 << 31))
    threads = [threading.Thread(target=work,
                                args=(targets, lock, begin + options.seconds,
                                      seeds))
               for _ in range(options.jobs)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(60 / len(threads))
        so_far = ", ".join(f"{t.name[5:]} {t.tried}" for t in targets)
        print(f"# {time.monotonic() - begin:.0f} s: {so_far}", flush=True)
    for target in targets:
        print(f"{target.name}: {target.tried} inputs, {target.found} failed, "
              f"{target.input_s() * 1e6:.0f} us each, "
              f"{target.cpu_s:.0f} s of CPU time")
    print(f"{sum(t.tried for t in targets)} inputs in "
          f"{time.monotonic() - begin:.0f} s of this run")
    return 1 if any(target.found for target in targets) else 0


if __name__ == "__main__":
    sys.exit(main())
