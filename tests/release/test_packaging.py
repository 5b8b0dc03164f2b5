#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The files of a release agree: one version everywhere, each installed file in one
package, symbols as the library has them, tarballs that are the same each time.

usage: test_packaging.py SOURCE BUILD PATH_TO_TAKT
"""
import ctypes
import glob
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

SOURCE, BUILD = (pathlib.Path(path) for path in sys.argv[1:3])
TAKT = sys.argv[3]
sys.path.insert(0, str(SOURCE / "packaging"))
sys.dont_write_bytecode = True
import needs  # noqa: E402


def tell(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, text=True,
                          capture_output=True, timeout=600, **options).stdout


VERSION = tell(SOURCE / "tools/version.sh").strip()
MAJOR = VERSION.split(".")[0]
HAS_DPKG = shutil.which("dpkg-gensymbols") is not None
HAS_GIT = (SOURCE / ".git").exists()


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)


class Version(unittest.TestCase):
    def test_the_tool_and_the_library(self):
        self.assertRegex(VERSION, r"^\d+\.\d+\.\d+$")
        self.assertEqual(tell(TAKT, "--version"), f"takt {VERSION}\n")
        self.assertEqual(json.loads(tell(TAKT, "version", "--json")),
                         {"version": VERSION})
        library = ctypes.CDLL(str(BUILD / f"libtakt.so.{MAJOR}"))
        library.takt_version.restype = ctypes.c_char_p
        self.assertEqual(library.takt_version().decode(), VERSION)

    def test_the_files_for_pkg_config_and_cmake(self):
        for name in ("takt.pc", "takt-static.pc"):
            self.assertIn(f"Version: {VERSION}\n", (BUILD / name).read_text())
        self.assertIn(f'set(PACKAGE_VERSION "{VERSION}")',
                      (BUILD / "taktConfigVersion.cmake").read_text())

    def test_the_changelog_begins_with_it(self):
        heads = re.findall("^## (.*)$", (SOURCE / "CHANGELOG.md").read_text(),
                           re.M)
        self.assertTrue(heads[0].startswith(VERSION), heads)

    def test_the_names_of_the_library(self):
        said = tell("objdump", "-p", BUILD / "libtakt.so")
        self.assertRegex(said, rf"SONAME +libtakt\.so\.{MAJOR}\n")
        self.assertEqual((BUILD / "libtakt.so").resolve().name,
                         f"libtakt.so.{VERSION}")
        self.assertTrue((SOURCE / f"packaging/abi/libtakt.so.{MAJOR}.abi")
                        .exists())

    def test_what_older_systems_have_in_other_libraries_is_linked(self):
        """The portable build is linked with glibc 2.31, which has these in
        librt; this one's has all in one, so that nothing would be missed."""
        if not (BUILD / "build.ninja").exists():
            self.skipTest("not built by ninja")
        for file in "cli/takt", "libtakt.so", "libtakt-blas.so":
            names = tell("nm", "-D", "--undefined-only", BUILD / file)
            used = re.findall(r" U ((?:timer|shm|mq|aio)_\w+)", names)
            link = tell("ninja", "-C", BUILD, "-t", "commands",
                        os.path.relpath((BUILD / file).resolve(), BUILD))
            if used:
                self.assertIn("-lrt", link.splitlines()[-1].split(),
                              f"{file} calls {used}")
                self.assertIn("librt.so.1", needs.C_LIBRARY)


@unittest.skipUnless(HAS_DPKG, "there is no dpkg-dev")
class Packages(Folder):
    def setUp(self):
        super().setUp()
        self.tree = self.folder / "tree"
        for name in ("packaging", "tools", "include/takt"):
            shutil.copytree(SOURCE / name, self.tree / name,
                            ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(SOURCE / "LICENSE", self.tree)
        tell(self.tree / "packaging/debian.sh",
             env={**os.environ, "SOURCE_DATE_EPOCH": "1700000000"})
        self.debian = self.tree / "debian"

    def packages(self):
        text = (self.debian / "control").read_text()
        return re.findall("^Package: (.*)$", text, re.M)

    def test_they_are_named_after_the_library_and_bear_the_version(self):
        self.assertEqual(self.packages(), [
            "takt", f"libtakt{MAJOR}", f"libtakt-otel{MAJOR}", "libtakt-dev",
            "takt-blas", "python3-takt"])
        said = (self.debian / "changelog").read_text()
        self.assertTrue(said.startswith(f"takt ({VERSION}) "))
        self.assertIn("Tue, 14 Nov 2023 22:13:20 +0000", said)
        for path in self.debian.glob("*"):
            self.assertFalse(path.suffix == ".in", path)
            if path.is_file():
                self.assertNotRegex(path.read_text(), r"@[A-Z]+@", path)

    def test_each_installed_file_is_in_one_package(self):
        triplet = tell("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
        stage = self.debian / "tmp"
        with open(BUILD / "cmake_install.cmake") as file:
            self.assertIn("CMAKE_INSTALL_PREFIX", file.read())
        tell("cmake", "--install", BUILD, "--prefix", "/usr",
             env={**os.environ, "DESTDIR": str(stage)})
        if not (stage / "usr/lib" / triplet).exists():
            (stage / "usr/lib" / triplet).mkdir()
            for path in list((stage / "usr/lib").iterdir()):
                if path.name != triplet:
                    path.rename(stage / "usr/lib" / triplet / path.name)
        python = stage / "usr/lib/python3/dist-packages/takt"
        python.mkdir(parents=True)
        (python / "__init__.py").touch()
        tell("make", "-f", "debian/rules", "execute_after_dh_auto_install",
             cwd=self.tree)
        owners = {}
        for package in self.packages():
            lines = (self.debian / f"{package}.install").read_text().split()
            for pattern in lines:
                found = glob.glob(str(stage / pattern))
                self.assertTrue(found, f"{package}: nothing is {pattern}")
                for top in map(pathlib.Path, found):
                    for path in [top, *top.rglob("*")]:
                        if path.is_symlink() or path.is_file():
                            owners.setdefault(path, []).append(package)
        for path in stage.rglob("*"):
            if not path.is_symlink() and path.is_dir():
                continue
            name = str(path.relative_to(stage))
            self.assertEqual(len(owners.get(path, [])), 1,
                             f"{name}: in {owners.get(path)}")

    def test_the_symbols_are_those_of_the_library(self):
        for library, name in ((f"libtakt.so.{MAJOR}", f"libtakt{MAJOR}"),
                              (f"libtakt-otel.so.{MAJOR}",
                               f"libtakt-otel{MAJOR}")):
            if not (BUILD / library).exists():
                continue
            said = tell("dpkg-gensymbols", "-c4", "-v" + VERSION, "-p" + name,
                        f"-e{BUILD / library}", "-O",
                        f"-I{self.debian / (name + '.symbols')}",
                        cwd=self.tree)
            exported = tell("nm", "-D", "--defined-only", "--with-symbol-versions",
                            BUILD / library)
            names = set(re.findall(r" T (takt_\w+)@", exported))
            self.assertEqual(set(re.findall(r"^ (takt_\w+)@", said, re.M)), names)

    def test_the_tests_are_there(self):
        text = (self.debian / "tests/control").read_text()
        for name in re.findall("^Tests: (.*)$", text, re.M):
            self.assertTrue(os.access(self.debian / "tests" / name, os.X_OK))


class Tarball(Folder):
    def make(self, tree, name, **options):
        target = self.folder / name
        tell(sys.executable, tree / "packaging/make_dist.py", target,
             "--without-parsers", "--level", "0", **options)
        return target / f"takt-{VERSION}.tar.xz"

    @unittest.skipUnless(HAS_GIT, "this is no clone")
    def test_it_is_the_same_each_time_and_made_of_itself(self):
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        environment.pop("SOURCE_DATE_EPOCH", None)
        first = self.make(SOURCE, "first", env=environment)
        clone = self.folder / "another place"
        tell("git", "clone", "-q", "--no-hardlinks", SOURCE, clone, umask=0o077)
        second = self.make(clone, "second", umask=0o077, env={
            **environment, "TZ": "Pacific/Kiritimati", "LC_ALL": "C"})
        self.assertEqual(first.read_bytes(), second.read_bytes())
        shutil.unpack_archive(first, self.folder / "unpacked", filter="data")
        tree = self.folder / "unpacked" / f"takt-{VERSION}"
        third = self.make(tree, "third", env=environment)
        self.assertEqual(first.read_bytes(), third.read_bytes())
        self.lists_everything(first)

    def lists_everything(self, tarball):
        text = json.loads(pathlib.Path(f"{tarball}.spdx.json").read_text())
        self.assertEqual(text["spdxVersion"], "SPDX-2.3")
        sums = {each["fileName"]: each["checksums"][1]["checksumValue"]
                for each in text["files"]}
        ids = [each["SPDXID"] for each in text["files"] + text["packages"]]
        self.assertEqual(len(ids), len(set(ids)))
        related = {each["relatedSpdxElement"] for each in text["relationships"]}
        self.assertLessEqual(set(ids), related)
        with tarfile.open(tarball) as tar:
            for member in tar:
                self.assertEqual((member.uid, member.gid), (0, 0))
                if member.isfile():
                    data = tar.extractfile(member).read()
                    name = "./" + member.name.split("/", 1)[1]
                    self.assertEqual(sums.pop(name),
                                     hashlib.sha256(data).hexdigest())
        self.assertEqual(sums, {})


class Needs(Folder):
    def test_what_a_library_needs_is_found(self):
        source = self.folder / "a.c"
        source.write_text("#include <stdlib.h>\n"
                          "void *f(void) { return malloc(1); }\n")
        library = self.folder / "a.so"
        tell("gcc", "-shared", "-fPIC", source, "-o", library,
             "-Wl,-rpath,$ORIGIN")
        most, names, runpath = needs.of(library)
        self.assertGreaterEqual(most, (2, 2))
        self.assertEqual((names, runpath), (["libc.so.6"], "$ORIGIN"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
