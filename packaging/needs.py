# SPDX-License-Identifier: MIT
"""What a program or library needs of the system that it runs on."""
import re
import subprocess


def of(path):
    """(version of glibc, names of libraries, folders it looks for them in)."""
    text = subprocess.run(["objdump", "-p", str(path)], check=True, text=True,
                          capture_output=True).stdout
    versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", text)
    most = max(((int(a), int(b)) for a, b in versions), default=(0, 0))
    runpath = re.search(r"^\s+(?:RUNPATH|RPATH)\s+(\S+)", text, re.M)
    return (most, re.findall(r"^\s+NEEDED\s+(\S+)", text, re.M),
            runpath[1] if runpath else "")
