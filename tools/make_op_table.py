#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Print docs/ops.md from src/op/ops.def."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
OP = re.compile(r'^TAKT_OP\((\w+),\s*(\w+),\s*(\w+),\s*(\d+),\s*([\d./ ]+),\s*'
                r'(?:AS_COUNTED|COST\(\d+, \d+\)),\s*(\w+),\s*([\w(), ]+?),\s*"(.*)"\)$', re.M)
ALIAS = re.compile(r"^TAKT_ALIAS\((\w+),\s*(\w+)\)$", re.M)
SIZES = re.compile(r'^TAKT_FORM\((\w+), \w+, \w+, "(.*)"', re.M)
ACCURACY = {
    "EXACT": "exact", "VALUE": "exact", "ULP": "{} ulp",
    "ULPS": "{} ulp (f32, f64)",
    "RESULT": "{} eps of the result", "MAGNITUDE": "{} eps of the magnitudes",
    "ROOT": "{} eps of the magnitudes, times the root of their number",
    "BACKWARD": "{} n eps of the norms, backward",
    "FORMULA": "see [numerics](numerics.md)"}
DTYPES = {"BOTH": "f32, f64", "F32": "f32"}

ops = (ROOT / "src/op/ops.def").read_text()
shapes = dict(SIZES.findall((ROOT / "src/op/forms.def").read_text()))
aliases = {}
for alias, name in ALIAS.findall(ops):
    aliases.setdefault(name, []).append(alias)

print("# The op catalogue\n")
print("Made from `src/op/ops.def` by `tools/make_op_table.py`; a test keeps "
      "the two equal.\n")
print("| op | complexity | shape | dtypes | what it computes | accurate to | "
      "aliases |")
print("|---|---|---|---|---|---|---|")
for name, complexity, form, _, _, dtypes, accuracy, summary in OP.findall(ops):
    summary = summary.replace("|", "\\|").replace("*", "\\*")
    unit, _, number = accuracy.rstrip(")").partition("(")
    print(f"| `{name}` | {complexity.capitalize()} | `{shapes[form]}` | "
          f"{DTYPES[dtypes]} | {summary} | {ACCURACY[unit].format(number)} | "
          f"{', '.join(aliases.get(name, []))} |")
