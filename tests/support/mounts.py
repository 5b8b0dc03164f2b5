# SPDX-License-Identifier: MIT
"""Commands that see other mounts: for tests of disks and quotas."""
import os
import shlex
import subprocess

GROUPS = "/sys/fs/cgroup"


def command(setup, *words):
    """The words, after a shell has run `setup` where only they see its mounts.
    TAKT_TEST_PRELOAD is preloaded into them and not into the shell."""
    own = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    preload = 'exec env ${TAKT_TEST_PRELOAD:+LD_PRELOAD="$TAKT_TEST_PRELOAD"} "$@"'
    return [*own, "/bin/sh", "-c", f"{{ {setup}; }} && {preload}", "sh", *words]


def are_possible():
    try:
        return subprocess.run(command(f"mount -t tmpfs none {GROUPS}", "true"),
                              capture_output=True).returncode == 0
    except OSError:
        return False


def quota(cpu_max):
    """The setup with that in cpu.max of the topmost group, wherever groups of
    version 2 are mounted."""
    points = {GROUPS}
    with open("/proc/self/mountinfo") as file:
        for line in file:
            if " - cgroup2 " in line:
                points.add(line.split()[4])
    lines = [f"mount -t tmpfs none {GROUPS}"]
    for point in sorted(points):
        if point.startswith(GROUPS):
            lines.append(f"mkdir -p {point} && "
                         f"echo {shlex.quote(cpu_max)} > {point}/cpu.max")
    return " && ".join(lines)
