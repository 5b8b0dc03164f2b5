#!/bin/sh
# Installs BUILD (build/release) under PREFIX, or removes what was installed there:
#   tools/install.sh install PREFIX [BUILD]
#   tools/install.sh uninstall PREFIX
# DESTDIR, if set, comes before PREFIX, for those who make packages. What was
# installed is listed in the prefix itself, with the folders that were made for
# it, so that another build, or none, can remove it. What an earlier version
# installed and this one lacks is removed.
set -eu
cd "$(dirname "$0")/.."
usage() {
    echo "usage: tools/install.sh install|uninstall PREFIX [BUILD]" >&2
    exit 2
}
[ $# -ge 2 ] && [ -n "$2" ] || usage
build=${3:-build/release}
case $2 in
/*) prefix=$2 ;;
*) prefix=$PWD/$2 ;;
esac
place=${DESTDIR:-}$prefix
# Files of both have the same names: removing one would remove the other.
if [ -d "$place" ] && [ "$(cd "$place" && pwd -P)" = "$(pwd -P)" ]; then
    echo "install: $place is the folder of the sources: use another PREFIX" >&2
    exit 2
fi
list=share/doc/takt/installed

# Lines of the list: "f FILE" or "d FOLDER", seen from the prefix; a folder comes
# after what is in it.
list_new() {
    (cd "$1" && find . ! -type d | sed 's,^\./,f ,'
        echo "f $list"
        { find . -depth -mindepth 1 -type d | sed 's,^\./,,'; echo .; } |
            while IFS= read -r folder; do
                [ -d "$place/$folder" ] &&
                    ! grep -qxF "d $folder" "$place/$list" 2>/dev/null ||
                    printf 'd %s\n' "$folder"
            done)
}

# Removes what the lines of a list name.
remove_listed() {
    removed=0 folders=0
    while read -r kind name; do
        case $name in
        /* | .. | ../* | */.. | */../*)
            echo "$place/$list names '$name', which is not in the prefix" >&2
            exit 1
            ;;
        esac
        if [ "$kind" = f ] && rm -f "$place/$name"; then
            removed=$((removed + 1))
        elif [ "$kind" = d ] && rmdir "$place/${name#.}" 2>/dev/null; then
            folders=$((folders + 1))
        fi
    done
}

install_all() {
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    stage=$work/stage
    DESTDIR="$stage" cmake --install "$build" --prefix "$prefix" \
        >"$build/install.log" 2>&1 || { cat "$build/install.log"; exit 1; }
    list_new "$stage$prefix" >"$work/made"
    : >"$work/old"
    if [ -f "$place/$list" ]; then
        grep -vxF -f "$work/made" "$place/$list" >"$work/old" || true
    fi
    # Before anything is there: an installation that fails can be removed, too.
    mkdir -p "$place/${list%/*}"
    cat "$work/old" "$work/made" >"$place/$list"
    cmake --install "$build" --prefix "$prefix" >"$build/install.log" 2>&1 ||
        { cat "$build/install.log"; exit 1; }
    remove_listed <"$work/old"
    cp "$work/made" "$place/$list"
    if [ -z "${DESTDIR:-}" ] && [ "$(id -u)" -eq 0 ]; then
        ldconfig 2>/dev/null || true # /usr/local/lib is looked up in its list
    fi
    echo "installed $(grep -c '^f ' "$work/made") files in $place"
}

uninstall_all() {
    if [ ! -f "$place/$list" ]; then
        echo "nothing is installed in $place: there is no $place/$list" >&2
        exit 1
    fi
    remove_listed <<END
$(cat "$place/$list")
END
    echo "removed $removed files and $folders folders from $place"
}

case $1 in
install) install_all ;;
uninstall) uninstall_all ;;
*) usage ;;
esac
