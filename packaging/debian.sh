#!/bin/sh
# Makes debian/ of packaging/debian, in the tree that this is a part of: an unpacked
# source tarball. dpkg-buildpackage does the rest.
set -eu
cd "$(dirname "$0")/.."
version=$(tools/version.sh)
so=$(tools/version.sh --major)
epoch=$(tools/epoch.sh)
triplet=$(dpkg-architecture -qDEB_HOST_MULTIARCH)

# The packages of the shared libraries have its number in their names; the
# changelog has the version of the header and the date of the last commit.
cp -r packaging/debian debian
for file in debian/*.in; do
    sed "s/@SO@/$so/g; s/@TRIPLET@/$triplet/g" "$file" >"${file%.in}"
    rm "$file"
done
for library in libtakt libtakt-otel; do
    for kind in install symbols lintian-overrides; do
        if [ -e "debian/$library.$kind" ]; then
            mv "debian/$library.$kind" "debian/$library$so.$kind"
        fi
    done
done
{
    # Every line of a licence begins with a blank; an empty one is a dot.
    indent() { sed 's/^/ /; s/^ *$/ ./'; }
    indent <LICENSE
    for licence in vendor/scan/node_modules/*/LICENSE \
        vendor/scan/node_modules/@*/*/LICENSE \
        vendor/scan/node_modules/tree-sitter/vendor/tree-sitter/lib/src/unicode/LICENSE; do
        [ -e "$licence" ] || continue
        name=$(echo "${licence%/LICENSE}" | sed 's,.*/tree-sitter/lib/.*,icu,; s,.*/,,')
        printf '\nFiles: %s/*\nCopyright: see its licence\nLicense: of-%s\n' \
            "${licence%/LICENSE}" "$name"
        tr -d '\r' <"$licence" | indent
    done
} >>debian/copyright
cat >debian/changelog <<END
takt ($version) unstable; urgency=medium

  * Release $version: see the changelog of Takt.

 -- Takt maintainers <maintainers@takt.invalid>  $(LC_ALL=C date -u -R -d "@$epoch")
END
