#!/bin/sh
# Builds the Debian packages from the source tarball TARBALL into FOLDER, and has
# lintian look at them. They are for the Debian that this is run on.
# usage: packaging/make_deb.sh TARBALL FOLDER
set -eu
if [ $# -ne 2 ]; then
    echo "usage: packaging/make_deb.sh TARBALL FOLDER" >&2
    exit 2
fi
tarball=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
umask 022
work=$(mktemp -d "${TMPDIR:-/tmp}/takt-deb.XXXXXX")
trap 'rm -rf "$work"' EXIT

tar -xJf "$tarball" -C "$work"
tree=$(echo "$work"/takt-*)
cd "$tree"
SOURCE_DATE_EPOCH=$(tools/epoch.sh)
export SOURCE_DATE_EPOCH
packaging/debian.sh
# Without a network, where that can be taken away.
offline=
if unshare -n true 2>/dev/null; then offline="unshare -n"; fi
$offline dpkg-buildpackage -us -uc -b >"$folder/deb.log" 2>&1 ||
    { tail -n 60 "$folder/deb.log" >&2; exit 1; }
cd "$work"
lintian --fail-on error,warning --allow-root ./*.changes \
    >"$folder/lintian.log" 2>&1 || { cat "$folder/lintian.log" >&2; exit 1; }
rm -f "$folder"/*.deb
cp ./*.deb "$folder"
ls "$folder"/*.deb
