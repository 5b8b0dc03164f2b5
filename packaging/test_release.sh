#!/bin/sh
# Tests the files of a release in FOLDER as somebody would who has just installed
# them: in fresh systems, which debootstrap makes of the mirror that apt uses here
# and of Ubuntu's.
#
# usage: packaging/test_release.sh FOLDER [ROOTS]
#
#   Debian 12   the commands of docs/how-to/make-a-release.md, in a system without
#               a compiler; packages: apt resolves and installs them, debian/tests
#               pass, an upgrade, two numbers of the library side by side, a purge
#               that leaves nothing
#   Debian 11, 12, 13, Ubuntu 20.04, 22.04, 24.04
#               binary tarball: takt machine, tune --quick, run; the wheel in a
#               venv where Python is 3.11 or later: the tests of the module
#
# ROOTS (/tmp/roots) keeps the systems; each test has a copy. SUITES, if set, names
# other systems for the second part. A system that cannot be had is named, and the
# rest is tested. Needs root.
set -eu
folder=$(realpath "${1:?usage: packaging/test_release.sh FOLDER [ROOTS]}")
roots=${2:-/tmp/roots}
here=$(cd "$(dirname "$0")" && pwd)
mirror=$("$here/mirror.sh")
mkdir -p "$roots"
root=

say() {
    echo "== $*"
}

fail() {
    echo "test_release: $*" >&2
    exit 1
}

leave() {
    if [ -n "$root" ]; then
        umount "$root/proc" "$root/dev" 2>/dev/null || true
        rm -rf --one-file-system "$root"
    fi
    root=
}
trap leave EXIT
trap 'exit 1' INT TERM

# bootstrap SUITE FOLDER
bootstrap() {
    case $1 in
    focal | jammy | noble)
        # Ubuntu's keys are in a package of Debian 13, which Debian has signed.
        keys=$roots/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg
        if [ ! -e "$keys" ]; then
            "$here/download.sh" trixie "$roots/keys" ubuntu-keyring || return 1
            dpkg-deb -x "$roots"/keys/ubuntu-keyring_*.deb "$roots/keys" || return 1
        fi
        # From the mirror that debootstrap knows for them. (The script of all of
        # Ubuntu's suites is named after one of them.)
        debootstrap --variant=minbase --components=main,universe \
            --keyring="$keys" "$1" "$2" "" gutsy
        ;;
    *) debootstrap --variant=minbase "$1" "$2" "$mirror" ;;
    esac
}

# enter SUITE: makes $root, a fresh system.
enter() {
    leave
    if [ ! -e "$roots/$1.base/done" ]; then
        rm -rf --one-file-system "$roots/$1.base"
        bootstrap "$1" "$roots/$1.base" >"$roots/$1.log" 2>&1 ||
            { tail -n 3 "$roots/$1.log"; return 1; }
        touch "$roots/$1.base/done"
    fi
    root=$roots/$1.test.$$
    cp -a "$roots/$1.base" "$root"
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    if [ -e /etc/hosts ]; then cp /etc/hosts "$root/etc/hosts"; fi
    mkdir "$root/release"
    cp "$folder"/* "$root/release/"
}

# Runs a script of shell in the system.
inside() {
    chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
        HOME=/root DEBIAN_FRONTEND=noninteractive TAKT_GPU= sh -eu -c "$1"
}

files_of_root() {
    (cd "$root" && find . -xdev \( -path ./proc -o -path ./dev -o -path ./tmp \
        -o -path ./release -o -path ./root -o -path ./var/lib/dpkg \
        -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log \) -prune \
        -o -print | sort)
}

# The tests of debian/tests/control, each with what it depends on.
run_autopkgtests() {
    mkdir -p "$root/tmp/debian"
    cp -r "$here/debian/tests" "$root/tmp/debian/"
    grep -v '^$' "$root/tmp/debian/tests/control" | while IFS= read -r line; do
        case $line in
        Tests:*) test=${line#Tests: } ;;
        Depends:*)
            needed=$(echo "${line#Depends: }" | tr -d ,)
            inside "apt-get -qq install -y --no-install-recommends $needed \
                >/tmp/apt.log 2>&1 || { tail /tmp/apt.log; exit 1; }"
            if inside "export AUTOPKGTEST_TMP=\$(mktemp -d); cd /
                 /tmp/debian/tests/$test >/tmp/test.log 2>&1"; then
                echo "   $test: passed"
            else
                cat "$root/tmp/test.log"
                fail "the autopkgtest $test failed"
            fi
            ;;
        esac
    done
}

# repack DEB SCRIPT: a package made of another one, which SCRIPT changes from within
# its folder; it is left in the release folder of the system.
repack() {
    rm -rf "$roots/repacked"
    dpkg-deb -R "$1" "$roots/repacked"
    (cd "$roots/repacked" && sh -eu -c "$2")
    mkdir -p "$root/release/$3"
    dpkg-deb --root-owner-group -b "$roots/repacked" "$root/release/$3" >/dev/null
    rm -rf "$roots/repacked"
}

# Of the version before this one there is no package: those of this one say that
# they are it.
make_earlier() {
    for file in "$folder"/*.deb; do
        case $file in *-dbgsym_*) continue ;; esac
        repack "$file" "sed -i 's/^Version: .*/&~earlier/; \
            s/(= \([0-9.]*\))/(= \1~earlier)/g' DEBIAN/control" earlier
    done
}

# A library of the next number, as its package would be.
make_next() {
    next=$((so + 1))
    repack "$folder"/libtakt"$so"_*.deb "
        sed -i 's/libtakt$so/libtakt$next/' DEBIAN/control DEBIAN/shlibs DEBIAN/symbols
        rm -f DEBIAN/md5sums
        cd usr/lib/*-linux-gnu
        file=\$(echo libtakt.so.$so.*)
        patchelf --set-soname libtakt.so.$next \$file
        mv \$file libtakt.so.$next.0.0
        rm libtakt.so.$so
        ln -s libtakt.so.$next.0.0 libtakt.so.$next
        mv ../../share/doc/libtakt$so ../../share/doc/libtakt$next
        rm -rf ../../share/lintian" next
}

install() {
    inside "apt-get -qq install -y --no-install-recommends $* >/tmp/apt.log 2>&1 ||
        { tail -n 30 /tmp/apt.log; exit 1; }"
}

# The command of the manual that begins with WORDS.
shown() {
    grep "^$1" "$here/../docs/how-to/make-a-release.md" | sed 's/ *#.*//' | grep .
}

# A newcomer's system has neither a compiler nor Python.
test_manual() {
    say "Debian 12: as the manual has it"
    enter bookworm
    echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/yes"
    inside 'apt-get -qq update'
    files_of_root >"$roots/before"
    inside "cd /release
        $(shown sha256sum) >/dev/null
        { $(shown 'apt install'); } >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }
        takt doctor >/dev/null
        takt run -- true
        dpkg-query -W takt | sed 's/^/   /'"
    all="takt libtakt0"
    purge --autoremove
}

test_packages() {
    say "Debian 12: packages"
    enter bookworm
    # apt finds them as in an archive, and resolves what they depend on.
    (cd "$root/release" && dpkg-scanpackages . /dev/null >Packages 2>/dev/null)
    echo "deb [trusted=yes] file:/release ./" >"$root/etc/apt/sources.list.d/takt.list"
    inside 'apt-get -qq update'
    # What the tests need of Debian is there before, so that the rest is Takt's.
    install python3-numpy gcc libc6-dev make pkg-config man-db libopenblas0-pthread \
        libcurl4 libsqlite3-dev
    files_of_root >"$roots/before"
    so=$(echo "$folder"/libtakt[0-9]*_*.deb | sed 's,.*/libtakt\([0-9]*\)_.*,\1,')
    all="takt libtakt$so libtakt-dev libtakt-otel$so takt-blas python3-takt"
    # shellcheck disable=SC2086
    install $all
    echo "   installed by apt: $all"
    inside 'takt machine >/dev/null'
    run_autopkgtests
    purge
    make_earlier
    # shellcheck disable=SC2046
    install $(cd "$root" && ls release/earlier/*.deb | sed 's,^,/,')
    # What was chosen by hand stays chosen until the package goes.
    inside "$(shown update-alternatives) >/dev/null"
    # shellcheck disable=SC2086
    install $all
    inside 'readlink -f /usr/lib/*-linux-gnu/libblas.so.3 | grep -q /takt/ ||
        { echo "the upgrade forgot that Takt is the BLAS"; exit 1; }'
    inside "for package in $all; do
            dpkg-query -W -f '\${Version}\n' \$package; done" >"$roots/versions"
    if grep earlier "$roots/versions"; then fail "it was not upgraded"; fi
    inside 'dpkg --audit && takt version && python3 -c "import takt"'
    echo "   upgraded"
    make_next
    install "$(cd "$root" && ls release/next/*.deb | sed 's,^,/,')"
    inside "python3 -c '
import ctypes
for number in ($so, $((so + 1))):
    library = ctypes.CDLL(f\"libtakt.so.{number}\")
    library.takt_version.restype = ctypes.c_char_p
    print(f\"   libtakt.so.{number}:\", library.takt_version().decode())
'"
    all="$all libtakt$((so + 1))"
    purge
    inside 'python3 -c "import numpy; numpy.eye(99) @ numpy.eye(99)"'
    echo "   purged, nothing left"
}

purge() { # [OPTION]
    inside "apt-get -qq purge -y $* $all >/tmp/apt.log 2>&1 || { cat /tmp/apt.log; exit 1; }"
    files_of_root >"$roots/after"
    comm -13 "$roots/before" "$roots/after" >"$roots/left"
    if grep -v '__pycache__\|/etc/ld.so.cache' "$roots/left" | grep .; then
        fail "a purge left this behind"
    fi
    if grep -i takt "$roots/left" || grep -rl takt "$root/var/lib/dpkg/alternatives" \
        "$root/etc/alternatives"; then
        fail "a purge left this behind"
    fi
}

test_tarball() { # SUITE
    enter "$1" || { echo "   $1 cannot be had here"; return; }
    say "$1, $(inside 'ldd --version' | head -n 1): binary tarball"
    unpack="cd /release && $(shown tar)"
    inside "($unpack) 2>/dev/null || {
            apt-get -qq update
            apt-get -qq install -y --no-install-recommends xz-utils >/tmp/apt.log 2>&1
            ($unpack)
        }"
    # shellcheck disable=SC2016
    inside 'mkdir /opt/place
        mv /release/takt-*-linux-x86_64 /opt/place/
        ln -s /opt/place/takt-* /opt/takt
        cd /
        /opt/takt/bin/takt version
        /opt/takt/bin/takt machine | head -n 2
        /opt/takt/bin/takt tune --quick --anyway 2>&1 | tail -n 1
        echo "int main(void) { return 0; }" >/tmp/x.c
        /opt/takt/bin/takt optimize /tmp >/dev/null'
    inside 'apt-get -qq update
        apt-get -qq install -y --no-install-recommends python3-numpy python3-venv >/tmp/apt.log 2>&1 ||
            { tail /tmp/apt.log; exit 1; }'
    sed 's/^takt /\/opt\/takt\/bin\/takt /; s/ takt run/ \/opt\/takt\/bin\/takt run/' \
        "$here/debian/tests/numpy" >"$root/tmp/numpy"
    inside 'export AUTOPKGTEST_TMP=$(mktemp -d); sh /tmp/numpy'
    # The exporter finds libtakt beside it, and the system has libcurl.
    inside 'ldd /opt/takt/lib/libtakt-otel.so.0 | grep -q "libtakt.so.0 => /opt"'
}

# "Without preloading" of docs/how-to/run-a-program.md, for one program.
test_alternative() {
    install libopenblas0-pthread
    inside 'cd /opt/takt/lib/takt
        ln -s /usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3 libtakt-below.so
        LD_LIBRARY_PATH=$PWD TAKT_RUN_EAGER=1 python3 -c "
import numpy
a = numpy.ones((500, 500))
assert (a @ a == 500).all()
maps = open(\"/proc/self/maps\").read()
for name in \"lib/takt/libblas.so.3\", \"lib/libtakt.so\", \"openblas\":
    assert name in maps, name"'
    echo "   Takt is the BLAS of a program"
}

test_wheel() {
    if ! inside 'python3 -c "import sys; sys.exit(sys.version_info < (3, 11))"'; then
        echo "   no Python 3.11 here: the wheel is not tried"
        return
    fi
    mkdir -p "$root/tests" "$root/docs/how-to"
    cp -r "$here/../tests/python" "$here/../tests/dropin" \
        "$here/../tests/fixtures" "$root/tests/"
    cp "$here/../docs/how-to/use-from-python.md" "$root/docs/how-to/"
    # NumPy is the system's; the module is the wheel's.
    inside 'python3 -m venv --system-site-packages /venv
        unshare -n true 2>/dev/null && offline="unshare -n" || offline=
        . /venv/bin/activate
        cd /release
        PIP_DISABLE_PIP_VERSION_CHECK=1 $offline '"$(shown pip)"' >/dev/null
        deactivate
        cd /tests/python
        export TAKT_DB= PYTHONDONTWRITEBYTECODE=1
        for test in ops numpy process; do
            /venv/bin/python test_$test.py >/tmp/test.log 2>&1 || { cat /tmp/test.log; exit 1; }
        done
        /venv/bin/python test_contexts.py /tests/fixtures >/tmp/test.log 2>&1 || { cat /tmp/test.log; exit 1; }
        /venv/bin/python -c "import takt; print(\"   wheel:\", takt.__version__, takt.__file__)"'
}

[ "$(id -u)" -eq 0 ] || fail "run it as root: debootstrap and chroot need that"
if ls "$folder"/*.deb >/dev/null 2>&1; then
    test_manual
    test_packages
fi
for suite in ${SUITES:-bullseye bookworm trixie focal jammy noble}; do
    test_tarball "$suite"
    if [ -n "$root" ]; then test_wheel; fi
    if [ "$suite" = bookworm ]; then test_alternative; fi
done
leave
say "all of it passed"
