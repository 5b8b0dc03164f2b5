#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The checks of layers and shape find what they are for, in a small tree."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

CLEAN = {
    "tools/layers.txt": "low:\nhigh: low\ncli:\nscan:\nprofile:\nproject:\notel:\n"
                        "dropin:\n",
    "tools/exceptions.txt": "# none\n",
    "include/takt/takt.h": "int takt_go(void);\n",
    "src/low/a.h": "int takt__a(int x);\n",
    "src/low/a.c": '#include "low/a.h"\nint takt__a(int x) { return x; }\n',
    "src/low/b.c": '#include "low/a.h"\nint takt__b(void);\n'
                   "int takt__b(void) { return takt__a(1); }\n",
    "src/high/c.c": '#include "low/a.h"\nint takt_go(void);\n'
                    "int takt_go(void) { return takt__a(2); }\n",
    **{f"{edge}/{edge}.c": f"int takt_go(void);\nint {edge}_main(void);\n"
                           f"int {edge}_main(void) {{ return takt_go(); }}\n"
       for edge in ("cli", "scan", "profile", "project", "otel", "dropin")},
}
MANY = "".join(f"    if (x == {i}) return {i};\n" for i in range(16))
# What is changed in the clean tree, the check, and what it has to say.
CASES = [
    ("a clean tree passes", {}, "layers", None),
    ("a clean tree has a good shape", {}, "shape", None),
    ("an include upwards", {"src/low/b.c": '#include "high/c.h"\n',
                            "src/high/c.h": ""}, "layers",
     "src/low/b.c includes high/c.h: low may not use high"),
    ("a use without an include",
     {"src/low/b.c": "int takt_go(void);\nint takt__b(void);\n"
                     "int takt__b(void) { return takt_go(); }\n"}, "layers",
     "src/low/b.c uses takt_go of src/high/c.c: low may not use high"),
    ("an edge that uses what is not public",
     {"cli/cli.c": "int takt__a(int x);\nint cli_main(void);\n"
                   "int cli_main(void) { return takt__a(1); }\n"}, "layers",
     "cli/cli.c uses takt__a of src/low/a.c: cli may not use low"),
    ("a permission that is never used",
     {"tools/layers.txt": CLEAN["tools/layers.txt"].replace(
         "cli:", "cli: low")}, "layers", "cli never uses low: remove it"),
    ("a table with a cycle",
     {"tools/layers.txt": CLEAN["tools/layers.txt"].replace(
         "low:\n", "low: high\n", 1)}, "layers", "low names high, below it"),
    ("a folder without a line", {"src/new/d.c": "int takt__d;\n"}, "layers",
     "tools/layers.txt has no line new"),
    ("an exception that is gone",
     {"tools/exceptions.txt": "layer low:high 1\n"}, "layers",
     "layer low:high 1: now 0"),
    ("too many decisions",
     {"src/low/b.c": "int takt__b(int x);\nint takt__b(int x)\n{\n" + MANY +
      "    return 99; /* if if */\n}\n"}, "shape",
     "src/low/b.c:takt__b() has 16 decisions"),
    ("too many decisions at an edge",
     {"cli/cli.c": "int cli_main(int x);\nint cli_main(int x)\n{\n" + MANY +
      "    return 99;\n}\n"}, "shape",
     "cli/cli.c:cli_main() has 16 decisions"),
    ("a known exception",
     {"src/low/b.c": "int takt__b(int x);\nint takt__b(int x)\n{\n" + MANY +
      "    return 99;\n}\n",
      "tools/exceptions.txt": "decisions src/low/b.c:takt__b 16\n"}, "shape",
     None),
    ("a circle of calls",
     {"src/low/a.c": "int takt__a(int x);\nint takt__b(void);\n"
      "int takt__a(int x) { return x == 0 ? takt__b() : x; }\n"}, "shape",
     "src/low: a circle of 2 files"),
    ("a circle of an include and a call",
     {"src/low/b.h": "struct takt_b { int x; };\n",
      "src/low/a.h": '#include "low/b.h"\nint takt__a(int x);\n'}, "shape",
     "src/low/a includes low/b.h of src/low/b"),
    ("a shared header closes no circle",
     {"src/low/inside.h": '#include "low/a.h"\nint takt__b(void);\n',
      "src/low/a.c": '#include "low/inside.h"\n'
                     "int takt__a(int x) { return x; }\n"}, "shape", None),
    ("a struct defined twice",
     {"cli/cli.c": "struct twice { int x; };\n",
      "src/low/b.c": "struct twice { int y; };\n"}, "shape",
     "struct twice is defined in cli/cli.c and src/low/b.c"),
]


def make(root, files):
    commands = []
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in sorted(n for n in files if n.endswith(".c")):
        output = f"CMakeFiles/part.dir/{name}.o"
        target = root / "build" / output
        target.parent.mkdir(parents=True, exist_ok=True)
        command = f"gcc -I{root}/src -c {root / name} -o {output}"
        commands.append({"file": str(root / name), "command": command})
        subprocess.run(command.split(), cwd=root / "build", check=True)
    (root / "build/compile_commands.json").write_text(json.dumps(commands))


def try_case(tools, name, change, check, wanted):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve()
        make(root, {**CLEAN, **change})
        for tool in ("tree.py", f"check_{check}.py"):
            shutil.copy(tools / tool, root / "tools")
        done = subprocess.run(
            [sys.executable, "-B", root / f"tools/check_{check}.py",
             root / "build"], capture_output=True, text=True)
        is_right = (done.returncode == 0 if wanted is None else
                    done.returncode == 1 and wanted in done.stdout)
        print("ok" if is_right else "not ok", "-", name)
        if not is_right:
            print(done.stdout, done.stderr, sep="\n")
        return is_right


def main():
    tools = pathlib.Path(sys.argv[1])
    results = [try_case(tools, *case) for case in CASES]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
