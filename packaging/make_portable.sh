#!/bin/sh
# Builds in FOLDER what runs on any Linux with glibc 2.31 or later: compiled and
# linked with the C library of Debian 11 (packaging/sysroot.sh), SQLite inside.
# usage: packaging/make_portable.sh FOLDER
set -eu
cd "$(dirname "$0")/.."
folder=${1:?usage: packaging/make_portable.sh FOLDER}
packaging/sqlite.sh build/sqlite
packaging/sysroot.sh build/sysroot
sysroot=$PWD/build/sysroot
triplet=$(gcc -dumpmachine)
# No path of this machine is in what is built.
flags="-ffile-prefix-map=$PWD=."
# Debian's gcc looks for libraries beside itself before it looks into a sysroot.
link="-B$sysroot/usr/lib/$triplet -L$sysroot/usr/lib/$triplet \
-L$sysroot/lib/$triplet"
tools/progress.sh "configure" "$folder.log" cmake -S . -B "$folder" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF -DCMAKE_C_COMPILER=gcc \
    -DCMAKE_C_FLAGS="$flags" -DCMAKE_SYSROOT="$sysroot" \
    -DCMAKE_EXE_LINKER_FLAGS="$link" -DCMAKE_SHARED_LINKER_FLAGS="$link" \
    -DCMAKE_MODULE_LINKER_FLAGS="$link" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX=/usr/local \
    -DTAKT_SQLITE_SOURCE="$PWD/build/sqlite" \
    -DTAKT_BLAS_RPATH='$ORIGIN;$ORIGIN/takt' \
    -DTAKT_BUILD_BENCH=OFF -DTAKT_BUILD_EXAMPLES=OFF -DTAKT_DESCRIBE=ON
if grep -E 'takt cannot|is left out' "$folder.log" >&2; then
    echo "make_portable: something would be missing" >&2
    exit 1
fi
tools/progress.sh "build" "$folder.log" cmake --build "$folder"
