#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every example and every command that the manual shows is run.

C: blocks of the documents and examples in comments of the headers; those without
a main() are fragments, which a document marks (```c fragment). Shell: the blocks
sh and console of each document, in their order, in a folder of its own, with
Takt installed below a home of its own; and the examples in the man pages of the
tool. What a console block shows below a
command is compared; ... stands for anything. not_run.txt lists the commands that
are not run, and why.
usage: test_examples.py SOURCE BUILD
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD = map(pathlib.Path, sys.argv[1:3])
sys.path.insert(0, str(SOURCE / "tools"))
sys.path.insert(0, str(SOURCE / "tools/manual"))
import make_manual  # noqa: E402
import markdown  # noqa: E402
import reference  # noqa: E402

# Documents of which each block says what it is.
LANGUAGES = {"sh", "console", "c", "c fragment", "python", "text", "toml",
             "yaml", "cmake", "ini"}
COMMAND = re.compile(r"^(\$ |takt (?!pin )|make |TAKT_\w+=|tools/|build/|cc |"
                     r"pip )")
# What changes the system or builds the tree is never run here.
FORBIDDEN = re.compile(r"(?:^|[;&|] *)(apt|runuser|update-alternatives|sudo|"
                       r"make|pip|psql|curl|perf|cd|ln|tools/\w+\.sh)\b")
FILE_NAME = re.compile(r"^(?:/\* (\w+\.[ch]) \*/|# (\w+\.py))\n")
SHORT_TAKT = """#!/bin/sh
case $1 in
tune) set -- "$@" --anyway --budget 0.2 ;;
top) set -- "$@" --for 1 ;;
run)
    for word; do
        case $word in --compare*) word=--compare=1 ;; esac
        shift
        set -- "$@" "$word"
    done
    ;;
esac
"""
PROJECT_C = """void product(int n, float *a, float *b, float *c)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}
"""


def documents():
    """(name, blocks) of every document of the manual."""
    for name, kind, _ in make_manual.documents(SOURCE):
        if kind != "example":
            text = (SOURCE / name).read_text()
            yield name, list(markdown.walk(markdown.parse(text)))


def code_blocks():
    for name, blocks in documents():
        for block in blocks:
            if block[0] == "code":
                yield name, block[1], block[2], block[3]


def pages_of_the_tool():
    """(name, blocks) of the examples in the man pages of all commands, as one
    document: phases of a project follow each other."""
    def told(*words):
        return subprocess.run([BUILD / "cli/takt", *words], check=True,
                              capture_output=True, text=True).stdout
    lines = [line for command in re.findall(r"^  ([a-z]+) ", told("help"), re.M)
             for line in re.findall(r"^  (takt .*)$", told("help", command),
                                    re.M)]
    return "takt(1)", [("code", "sh", "\n".join(lines), 1)]


def shown_commands(language, text):
    """(command, what is shown below it) of a block."""
    text = re.sub(r"\\\n\s*", "", text)
    if language == "sh":
        return [(line, None) for line in text.split("\n") if line.strip()]
    commands = []
    for line in text.split("\n"):
        if line.startswith("$ "):
            commands.append((line[2:], []))
        else:
            commands[-1][1].append(line)
    return [(command, "\n".join(shown) or None)
            for command, shown in commands]


def bare(command):
    """Without its comment, blanks made one."""
    return re.sub(r"\s+", " ", re.sub(r"\s#.*", "", command)).strip()


def not_run():
    """command -> reason."""
    listed = {}
    for line in (SOURCE / "tests/manual/not_run.txt").read_text().split("\n"):
        if line and not line.startswith("#"):
            reason, _, command = line.partition(" | ")
            listed[command.strip()] = reason.strip()
    return listed


def matches(shown, printed):
    """Whether a text is as shown; ... is any text, on a line of its own any
    lines."""
    pattern = ""
    for line in shown.split("\n"):
        if line == "...":
            pattern += r"(?:.*\n)*?"
        elif line:
            pattern += ".+".join(map(re.escape, line.split("..."))) + "\n"
    return re.fullmatch(pattern, "".join(
        line.rstrip() + "\n" for line in printed.split("\n") if line.strip()))


def c_examples():
    """(where, code, whether it is a fragment)."""
    found, _ = make_manual.read_headers(SOURCE / "include/takt")
    for page in reference.Reference(found).pages():
        for block in page.examples:
            yield (f"include/{page.header}: {page.name}", block[2],
                   "main(" not in block[2])
    for name, language, text, line in code_blocks():
        if language in ("c", "c fragment"):
            yield f"{name}:{line}", text, language == "c fragment"


def environment(home):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("TAKT_", "OTEL_", "XDG_", "PKG_CONFIG"))}
    env.update(HOME=str(home), TAKT_GPU="", PYTHONDONTWRITEBYTECODE="1",
               PYTHONPATH=str(BUILD / "python"), LC_ALL="C.UTF-8",
               TAKT_OTLP_SHUTDOWN_MS="30000",  # however busy the machine is
               PATH=f"{home}/bin:{home}/opt/takt/bin:" + os.environ["PATH"])
    return env


def make_home(home):
    """A home with Takt installed, as the tutorial has it. `takt tune`, `takt top`
    and `takt run --compare` last as long as they are told: here that is a moment,
    on a machine that is busy."""
    subprocess.run(["cmake", "--install", BUILD, "--prefix",
                    home / "opt/takt"], check=True, capture_output=True)
    (home / "bin").mkdir()
    python = "/usr/bin/python3"  # that sees Debian's NumPy
    (home / "bin/python3").symlink_to(python if os.path.exists(python)
                                      else sys.executable)
    takt = home / "opt/takt/bin/takt"
    takt.rename(takt.with_name("takt-itself"))
    takt.write_text(SHORT_TAKT + f'exec "{takt}-itself" "$@"\n')
    takt.chmod(0o755)


def make_folder(folder, home):
    """What commands of how-tos speak of: a script, a project, a program, what
    was measured elsewhere."""
    env = environment(home)
    # Sockets of its own: others may run `takt top` at the same time.
    env["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="run", dir=home)
    folder.mkdir()
    for script in ("app.py", "model.py"):
        (folder / script).write_text("print(sum(range(1000)))\n")
    for project in ("app", "DIR"):
        (folder / project).mkdir()
        (folder / project / "app.c").write_text(PROJECT_C)
        (folder / project / "Makefile").write_text("all check:\n\ttrue\n")
        (folder / project / "takt.toml").write_text(
            '[validation]\ntest_command = "make check"\n'
            '[build]\ncommand = "make"\n')
    (folder / "build").mkdir()
    (folder / "build/compile_commands.json").write_text(
        '[{"directory": "%s", "file": "app.c", "command": "cc -I%s -c app.c"}]'
        % (folder / "app", SOURCE / "include"))
    profile = "main;product 90\nmain 10\n"
    (folder / "app.perf").write_text(profile)
    (folder / "perf.txt").write_text(profile)
    for program in ("train", "solver"):
        shutil.copy(home / "train", folder / program)
    for made in (home / "made").iterdir():
        shutil.copy(made, folder / made.name)
    for name in ("FILE", "my-machine.db"):
        shutil.copy(home / "made/machine-a.db", folder / name)
    shutil.copy(home / "made/app.trace", folder / "run.trace")
    return env


def make_repository(folder, env):
    subprocess.run(["sh", "-e", "-c", "git init -q; git add .; git -c "
                    "user.name=A -c user.email=a@b.c commit -qm app"],
                   cwd=folder, env=env, check=True)


def make_inputs(home):
    """A program that is linked with Takt, and reports of other commands."""
    made = home / "made"
    made.mkdir()
    program = home / "train.c"
    program.write_text("#include <takt/takt.h>\nint main(void)\n{\n"
                       "    float x[4] = {1, 2, 3, 4}, sum;\n"
                       "    return takt_sum_f32(4, x, &sum) != TAKT_OK ||\n"
                       "           takt_ctx_flush(NULL) != TAKT_OK;\n}\n")
    lines = [
        f"cc {program} -o {home}/train -I{home}/opt/takt/include "
        f"-L{BUILD} -ltakt -Wl,-rpath,{BUILD}",
        "mkdir app && cd app && cat > app.c && cd ..",
        "takt run --report --format json --output made/run.json -- true",
        "takt run --compare=1 --format json --output made/compare.json -- true",
        "takt optimize --dry-run --format json app > made/findings.json",
        "takt tune --quick --ops sum --db made/machine-a.db",
        "TAKT_TRACE=made/app.trace TAKT_TRACE_DEBUG=1 ./train"]
    ran = subprocess.run(["bash", "-e", "-c", "\n".join(lines)], cwd=home,
                         env=environment(home), input=PROJECT_C, text=True,
                         capture_output=True)
    if ran.returncode != 0:
        raise RuntimeError(f"inputs: {ran.stdout}{ran.stderr}")


def run_document(name, blocks, home, skipped):
    """Runs the commands of a document. Returns what went wrong."""
    folder = home / re.sub(r"\W", "-", name)
    env = make_folder(folder, home)
    if any("git" in block[2] or "--diff" in block[2] for block in blocks
           if block[0] == "code"):
        make_repository(folder, env)
    commands = []
    for block in blocks:
        if block[0] != "code":
            continue
        file = FILE_NAME.match(block[2])
        if file and block[1] in ("c", "python"):
            (folder / (file[1] or file[2])).write_text(block[2] + "\n")
        elif block[1] in ("sh", "console"):
            commands += [(*command, block[3])
                         for command in shown_commands(block[1], block[2])
                         if bare(command[0]) not in skipped]
    forbidden = [f"{name}:{line}: '{command}' is not run here: list it in "
                 "tests/manual/not_run.txt" for command, _, line in commands
                 if FORBIDDEN.search(bare(command))]
    if forbidden:
        return forbidden
    script = "".join(
        f"{{ {command}\n}} >'{folder}/out.{i}' 2>'{folder}/err.{i}' "
        f"</dev/null; echo $? >'{folder}/status.{i}'\n"
        for i, (command, _, _) in enumerate(commands))
    subprocess.run(["bash", "-c", script], cwd=folder, env=env, timeout=300,
                   capture_output=True)
    return [problem for i, command in enumerate(commands)
            for problem in judge(name, folder, i, *command)]


def judge(name, folder, i, command, shown, line):
    status = folder / f"status.{i}"
    said = (folder / f"err.{i}").read_text() if status.exists() else ""
    if not status.exists() or status.read_text() != "0\n":
        yield (f"{name}:{line}: {command}: "
               f"{status.read_text().strip() if status.exists() else 'lost'}:"
               f" {said}")
    elif shown is not None:
        printed = (folder / f"out.{i}").read_text()
        if not matches(shown, printed) and not matches(shown, printed + said):
            yield (f"{name}:{line}: {command}: shown as\n{shown}\nbut is\n"
                   f"{printed}{said}")


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = pathlib.Path(tempfile.mkdtemp(prefix="takt-manual-"))
        make_home(cls.home)
        make_inputs(cls.home)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.home)

    def compiled(self, name, code, *flags):
        source, program = self.home / f"{name}.c", self.home / name
        source.write_text(code)
        ran = subprocess.run(
            ["cc", "-std=c17", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra",
             "-Werror", *flags, source, "-o", program, "-I",
             SOURCE / "include", "-L", BUILD, "-ltakt", f"-Wl,-rpath,{BUILD}"],
            capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return program

    def ran(self, where, *command):
        env = dict(environment(self.home), TAKT_DB="", TAKT_TRACE="")
        ran = subprocess.run(command, cwd=self.home, env=env, timeout=60,
                             capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, f"{where}: {ran.stderr}")

    def test_every_fragment_in_C_compiles_and_runs(self):
        fragments = [(where, code) for where, code, is_fragment in c_examples()
                     if is_fragment]
        self.assertGreater(len(fragments), 15)
        text = "".join(f"#include <{name}.h>\n" for name in
                       ("stdio", "stdlib", "string", "takt/takt"))
        for i, (where, code) in enumerate(fragments):
            text += (f"static int example_{i}(void)\n{{\n#line 1 \"{where}\"\n"
                     f"{code}\n    return 0;\n}}\n")
        text += ("int main(int argc, char **argv)\n{\n"
                 "    switch (argc > 1 ? atoi(argv[1]) : -1) {\n" +
                 "".join(f"    case {i}:\n        return example_{i}();\n"
                         for i in range(len(fragments))) +
                 "    }\n    return 2;\n}\n")
        program = self.compiled("fragments", text, "-Wno-unused-variable")
        for i, (where, _) in enumerate(fragments):
            self.ran(where, program, str(i))

    def test_every_program_in_C_compiles_and_runs(self):
        programs = [(where, code) for where, code, is_fragment in c_examples()
                    if not is_fragment]
        self.assertGreater(len(programs), 5)

        def run(numbered):
            i, (where, code) = numbered
            self.ran(where, self.compiled(f"program_{i}", code))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(run, enumerate(programs)))

    def test_python_that_is_no_session_runs(self):
        for name, language, text, line in code_blocks():
            if language == "python" and not FILE_NAME.match(text) and \
                    ">>>" not in text:
                self.ran(f"{name}:{line}", f"{self.home}/bin/python3", "-c",
                         text)

    def test_every_block_says_what_it_is(self):
        wrong = [f"{name}:{line}: '{language}'"
                 for name, language, text, line in code_blocks()
                 if ("how-to" in name or "tutorial" in name or language) and
                 language not in LANGUAGES or
                 not language and COMMAND.match(text)]
        self.assertEqual(wrong, [])

    def test_every_command_is_run_or_listed(self):
        skipped = not_run()
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            found = pool.map(
                lambda document: run_document(*document, self.home, skipped),
                [pages_of_the_tool(), *documents()])
            problems = [problem for one in found for problem in one]
        self.assertEqual(problems, [], "\n".join(problems))

    def test_what_is_listed_is_shown(self):
        blocks = [(language, text) for _, language, text, _ in code_blocks()
                  if language in ("sh", "console")]
        blocks += [block[1:3] for block in pages_of_the_tool()[1]]
        shown = {bare(command) for language, text in blocks
                 for command, _ in shown_commands(language, text)}
        self.assertEqual(sorted(set(not_run()) - shown), [])
        self.assertEqual([command for command, reason in not_run().items()
                          if not reason], [])


class Shown(unittest.TestCase):
    def test_dots_stand_for_anything(self):
        self.assertTrue(matches("a ... c", "a b c\n"))
        self.assertTrue(matches("...\nend", "one\ntwo\nend\n"))
        self.assertTrue(matches("...", ""))

    def test_what_differs_is_found(self):
        self.assertFalse(matches("19 22", "19 23\n"))
        self.assertFalse(matches("a\n...\nb", "a\nc\n"))
        self.assertFalse(matches("a", "a\nb\n"))

    def test_commands_are_read_with_what_is_shown(self):
        self.assertEqual(shown_commands("console", "$ a\nx\n...\n$ b"),
                         [("a", "x\n..."), ("b", None)])
        self.assertEqual(shown_commands("sh", "a \\\n  b # why\nc"),
                         [("a b # why", None), ("c", None)])
        self.assertEqual(bare("takt  map   # why"), "takt map")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
