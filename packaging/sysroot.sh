#!/bin/sh
# Unpacks into FOLDER the headers and libraries of Debian 11 (glibc 2.31) that Takt
# is compiled and linked with where it has to run on older systems. The compiler
# is this machine's. Needs apt and its mirror, no rights; does nothing when it is
# there.
# usage: packaging/sysroot.sh FOLDER
set -eu
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: packaging/sysroot.sh FOLDER}
suite=bullseye
packages="libc6 libc6-dev linux-libc-dev zlib1g zlib1g-dev \
libcurl4 libcurl4-openssl-dev libvulkan1 libvulkan-dev"
wanted=$(echo "$suite $packages" | cat - "$0" | sha256sum)
if [ "$(cat "$folder/.stamp" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi

rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
# shellcheck disable=SC2086
"$here/download.sh" "$suite" "$folder/debs" $packages
for file in "$folder"/debs/*.deb; do
    dpkg-deb -x "$file" "$folder"
done
rm -r "$folder/debs"
# Links with absolute paths would lead to the libraries of this machine.
find "$folder" -type l -lname '/*' | while IFS= read -r link; do
    ln -sfrn "$folder$(readlink "$link")" "$link"
done
# The headers of Python: its stable interface is the same for all versions, and
# has nothing of the C library in it.
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
for headers in /usr/include/python3.*; do
    name=${headers##*/}
    cp -r "$headers" "$folder/usr/include/"
    if [ -d "/usr/include/$triplet/$name" ]; then
        cp -r "/usr/include/$triplet/$name" "$folder/usr/include/$triplet/"
    fi
done
echo "$wanted" >"$folder/.stamp"
