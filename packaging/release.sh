#!/bin/sh
# Makes a release of the last commit in build/release-VERSION, checks it, and
# prints what it made:
#   the source tarball; built from it, the binary tarball, the wheel and the Debian
#   packages; for each, a list of contents (SPDX); the sums of all
# Everything is built twice, in other folders, time zones and locales and with
# another umask, and has to be the same; lintian and abidiff have to be content.
#
# usage: packaging/release.sh [--once] [--in-roots]
#   --once      do not build it a second time
#   --in-roots  install and test all of it in fresh systems, too, which needs root
#               (packaging/test_release.sh)
set -eu
cd "$(dirname "$0")/.."
is_twice=true in_roots=false
for word; do
    case $word in
    --once) is_twice=false ;;
    --in-roots) in_roots=true ;;
    *) echo "usage: packaging/release.sh [--once] [--in-roots]" >&2; exit 2 ;;
    esac
done
if [ -n "$(git status --porcelain)" ]; then
    echo "release: commit first: a release is made of the last commit" >&2
    git status --short >&2
    exit 1
fi
began=$(date +%s)
version=$(tools/version.sh)
out=$PWD/build/release-$version
work=$(mktemp -d "${TMPDIR:-/tmp}/takt-release.XXXXXX")
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
mkdir -p "$out"

step() {
    echo "== $*, $(($(date +%s) - began)) s"
}

# build PLACE OUT: everything that is made from the tarball.
build() {
    mkdir -p "$1/build" "$2"
    tar -xJf "$out/takt-$version.tar.xz" -C "$1" --strip-components=1
    cp -r build/sqlite build/sysroot "$1/build/"
    "$1/packaging/make_portable.sh" build/portable >"$2.log" 2>&1 ||
        { tail -n 40 "$2.log" >&2; return 1; }
    # (-e does not count before ||)
    (
        cd "$1" &&
            python3 tools/check_abi.py build/portable/libtakt.so &&
            python3 packaging/make_binary.py build/portable "$2" &&
            python3 tools/make_wheel.py build/portable "$2" &&
            packaging/make_deb.sh "$out/takt-$version.tar.xz" "$2" &&
            rm "$2"/*.log
    ) >>"$2.log" 2>&1 || { tail -n 40 "$2.log" >&2; return 1; }
}

same() { # FOLDER FOLDER
    if ! diff -rq "$1" "$2"; then
        echo "release: two builds are not the same" >&2
        return 1
    fi
}

step "the source tarball"
packaging/sqlite.sh build/sqlite
packaging/sysroot.sh build/sysroot
python3 packaging/make_dist.py "$out" >/dev/null
step "binaries, wheel and packages, from the tarball; lintian, abidiff"
(umask 022 && build "$work/first" "$work/one")
if $is_twice; then
    step "the same again, elsewhere"
    (
        umask 077
        unset LANG LANGUAGE
        export TZ=Pacific/Kiritimati LC_ALL=C HOME="$work"
        mkdir -p "$work/another folder"
        git clone -q . "$work/another folder/clone"
        # What npm brought is not brought again.
        mkdir -p "$work/another folder/clone/build"
        cp -r build/node "$work/another folder/clone/build/"
        mkdir "$work/source"
        python3 "$work/another folder/clone/packaging/make_dist.py" "$work/source" >/dev/null
        build "$work/second-place" "$work/two"
    )
    mkdir "$work/source-one"
    cp "$out"/* "$work/source-one/"
    same "$work/source-one" "$work/source"
    same "$work/one" "$work/two"
    echo "   identical: $(find "$work/one" "$work/source" -type f | wc -l) files"
fi
cp "$work/one"/* "$out"
(cd "$out" && sha256sum -- * >SHA256SUMS)
if $in_roots; then
    step "in fresh systems"
    packaging/test_release.sh "$out"
fi
step "made in $out"
(cd "$out" && ls -l | awk 'NR > 1 { print "   " $5, $9 }')
