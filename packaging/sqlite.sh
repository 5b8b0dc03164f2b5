#!/bin/sh
# Puts the source of SQLite (sqlite3.c, sqlite3.h) into FOLDER: from a package of
# npm's that has it as SQLite's authors publish it. Does nothing when it is there.
# usage: packaging/sqlite.sh FOLDER
set -eu
folder=${1:?usage: packaging/sqlite.sh FOLDER}
package=better-sqlite3 version=12.11.1 # SQLite 3.53.2
sum=76af40b40a608393c616d0733c54819771d94231e893981a40233ace1d989346929830acd426e7548f3f1e001242434ab16169b1e20ef5b7a0e71c696216c87c

if [ "$(cat "$folder/.stamp" 2>/dev/null)" = "$sum" ]; then
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && npm pack --loglevel=error "$package@$version" >/dev/null)
file=$work/$package-$version.tgz
if [ "$(sha512sum <"$file" | cut -d ' ' -f 1)" != "$sum" ]; then
    echo "sqlite: $package $version from npm is another file than it was" >&2
    exit 1
fi
tar -xzf "$file" -C "$work" package/deps/sqlite3
mkdir -p "$folder"
cp "$work/package/deps/sqlite3/sqlite3.c" "$work/package/deps/sqlite3/sqlite3.h" \
    "$folder"
echo "$sum" >"$folder/.stamp"
