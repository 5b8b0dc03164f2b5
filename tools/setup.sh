#!/bin/sh
# Installs what is missing to build Takt ("build"), to test it ("test") or to make
# a release of it ("release").
# Prints what it installs; does nothing, quickly, when all is there.
set -eu

build="gcc libc6-dev make cmake ninja-build pkg-config libsqlite3-dev \
libvulkan-dev libcurl4-openssl-dev zlib1g-dev python3-dev"
test="$build g++ clang libclang-rt-dev lld clang-format python3 \
universal-ctags man-db bash locales openssl protobuf-compiler python3-numpy python3-venv \
chromium tmux postgresql sqlite3 libopenblas0-pthread libblis4-pthread libblas3 libblas-test liblapack-test \
libxsmm-dev mesa-vulkan-drivers vulkan-validationlayers glslang-tools \
gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user abigail-tools"
release="$build xz-utils dpkg-dev debhelper dh-python lintian abigail-tools \
debootstrap patchelf python3-venv python3-numpy"

case "${1:-}" in
build) wanted=$build ;;
test) wanted=$test ;;
release) wanted=$release ;;
*)
    echo "usage: tools/setup.sh build|test|release" >&2
    exit 2
    ;;
esac

# The parsers of `takt optimize` come from npm, which comes with node where that
# is not Debian's; a source tarball has them.
if [ ! -d "$(dirname "$0")/../vendor/scan" ] && ! command -v npm >/dev/null; then
    wanted="$wanted nodejs npm"
fi

missing=
for package in $wanted; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "setup: please install:$missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: run as root, or install sudo, to install:$missing" >&2
        exit 1
    fi
    as_root=sudo
fi

echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
watched() {
    "$(dirname "$0")/progress.sh" setup "$log" $as_root "$@" >/dev/null
}
install() {
    # shellcheck disable=SC2086
    # A machine that has just started may be at its own updates.
    watched apt-get -o DPkg::Lock::Timeout=600 install -y \
        --no-install-recommends $missing
}
# The package lists may be missing or old: refresh them once, then try again.
if ! install && ! { watched apt-get update && install; }; then
    tail -n 5 "$log" >&2
    echo "setup: cannot install$missing: is this machine online?" >&2
    exit 1
fi
