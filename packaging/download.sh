#!/bin/sh
# Downloads packages of a suite of Debian into FOLDER, by apt with lists of its own
# and Debian's keys: nothing of this machine's apt changes. Needs no rights.
# usage: packaging/download.sh SUITE FOLDER PACKAGE...
set -eu
here=$(cd "$(dirname "$0")" && pwd)
if [ $# -lt 3 ]; then
    echo "usage: packaging/download.sh SUITE FOLDER PACKAGE..." >&2
    exit 2
fi
suite=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
shift 2
lists=$(mktemp -d "${TMPDIR:-/tmp}/takt-apt.XXXXXX")
trap 'rm -rf "$lists"' EXIT
mkdir -p "$lists/lists/partial" "$lists/cache"
architecture=$(dpkg --print-architecture)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] \
$("$here/mirror.sh") $suite main" >"$lists/sources.list"
: >"$lists/status"
apt() {
    apt-get -qq -o Dir::State="$lists" -o Dir::Cache="$lists/cache" \
        -o Dir::State::status="$lists/status" \
        -o Dir::Etc::SourceList="$lists/sources.list" \
        -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null \
        -o Dir::Etc::PreferencesParts=/dev/null \
        -o APT::Architecture="$architecture" \
        -o APT::Architectures="$architecture" \
        -o APT::Sandbox::User= "$@"
}
apt update
(cd "$folder" && apt download "$@")
