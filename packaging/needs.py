# SPDX-License-Identifier: MIT
"""What a program or library needs of the system that it runs on."""
import re
import subprocess

# What the C library consists of; one from glibc 2.34 on has most of it in one.
C_LIBRARY = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0",
             "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def of(path):
    """(version of glibc, names of libraries, folders it looks for them in)."""
    text = subprocess.run(["objdump", "-p", str(path)], check=True, text=True,
                          capture_output=True).stdout
    versions = re.findall(r"\bGLIBC_(\d+)\.(\d+)", text)
    most = max(((int(a), int(b)) for a, b in versions), default=(0, 0))
    runpath = re.search(r"^\s+(?:RUNPATH|RPATH)\s+(\S+)", text, re.M)
    return (most, re.findall(r"^\s+NEEDED\s+(\S+)", text, re.M),
            runpath[1] if runpath else "")
