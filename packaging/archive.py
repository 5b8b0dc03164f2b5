# SPDX-License-Identifier: MIT
"""What all files of a release need: archives that are the same each time, sums,
and a list of contents (SPDX 2.3)."""
import base64
import hashlib
import io
import json
import lzma
import pathlib
import re
import subprocess
import tarfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tell(*words):
    return subprocess.run(words, check=True, capture_output=True,
                          cwd=ROOT).stdout


def version():
    return tell("tools/version.sh").decode().strip()


def epoch():
    return int(tell("tools/epoch.sh"))


EPOCH = epoch()


class Entry:
    """A file of an archive: its path there, its bytes, or where it links to."""

    def __init__(self, path, data, is_program=False, link=None):
        self.path, self.data, self.link = path, data, link
        self.is_program = is_program


def read(path, name):
    """The entry of a file on disk. Of its mode, only x for its owner counts: a
    umask must not."""
    if path.is_symlink():
        return Entry(name, b"", link=str(path.readlink()))
    return Entry(name, path.read_bytes(), path.stat().st_mode & 0o100 != 0)


def read_folder(folder, leave_out=()):
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if name.parts[0] not in leave_out and "__pycache__" not in name.parts \
                and (path.is_symlink() or path.is_file()):
            yield read(path, str(name))


def write_tar(target, top, entries, level=6):
    """A tar.xz of which nothing depends on the machine, the clock, the umask or
    the order in which entries come."""
    text = io.BytesIO()
    with tarfile.open(fileobj=text, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for entry in sorted(entries, key=lambda each: each.path):
            info = tarfile.TarInfo(f"{top}/{entry.path}")
            info.mtime = EPOCH
            info.uname = info.gname = "root"
            info.mode = 0o755 if entry.is_program else 0o644
            if entry.link is None:
                info.size = len(entry.data)
            else:
                info.type, info.linkname = tarfile.SYMTYPE, entry.link
                info.mode = 0o777
            tar.addfile(info, io.BytesIO(entry.data))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(lzma.compress(text.getvalue(), preset=level))


# ---- the list of contents ---------------------------------------------------

def identifier(text):
    return "".join(x if x.isalnum() or x in ".-" else "-" for x in text)


def package(name, its_version, licence, **more):
    return {"SPDXID": f"SPDXRef-Package-{identifier(name)}", "name": name,
            "versionInfo": its_version, "licenseDeclared": licence,
            "licenseConcluded": licence, "copyrightText": "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, **more}


def file_of(entry):
    return {"SPDXID": f"SPDXRef-File-{identifier(entry.path)}-"
                      f"{hashlib.sha1(entry.path.encode()).hexdigest()[:8]}",
            "fileName": f"./{entry.path}",
            "checksums": [
                {"algorithm": "SHA1",
                 "checksumValue": hashlib.sha1(entry.data).hexdigest()},
                {"algorithm": "SHA256",
                 "checksumValue": hashlib.sha256(entry.data).hexdigest()}],
            "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION"}


def verification_code(files):
    sums = sorted(each["checksums"][0]["checksumValue"] for each in files)
    return hashlib.sha1("".join(sums).encode()).hexdigest()


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind,
            "relatedSpdxElement": other}


def write_sbom(target, name, entries, others=()):
    """Of takt as it is in a file of a release: its files, and the packages of
    others that are inside."""
    files = [file_of(entry) for entry in sorted(
        entries, key=lambda each: each.path) if entry.link is None]
    code = verification_code(files)
    own = package("takt", version(), "MIT", packageFileName=name,
                  supplier="Organization: Takt maintainers")
    own.update(filesAnalyzed=True, packageVerificationCode={
        "packageVerificationCodeValue": code})
    document = "SPDXRef-DOCUMENT"
    relations = [relation(document, "DESCRIBES", own["SPDXID"])]
    relations += [relation(own["SPDXID"], "CONTAINS", each["SPDXID"])
                  for each in (*others, *files)]
    text = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0",
            "SPDXID": document, "name": name,
            "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{code}",
            "creationInfo": {
                "created": time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                         time.gmtime(EPOCH)),
                "creators": ["Organization: Takt maintainers",
                             f"Tool: takt-{version()}"]},
            "packages": [own, *others], "files": files,
            "relationships": relations}
    target.write_text(json.dumps(text, indent=1) + "\n")


# ---- packages from npm -------------------------------------------------------

def npm_packages(folder, names, licences=None):
    """The packages that a lock file names, for the list of contents."""
    lock = json.loads((folder / "package-lock.json").read_text())["packages"]
    for name in names:
        facts = lock[f"node_modules/{name}"]
        sha512 = facts["integrity"].removeprefix("sha512-")
        yield package(
            name, facts["version"],
            (licences or {}).get(name, facts.get("license", "NOASSERTION")),
            checksums=[{"algorithm": "SHA512",
                        "checksumValue": base64.b64decode(sha512).hex()}],
            externalRefs=[{
                "referenceCategory": "PACKAGE-MANAGER",
                "referenceType": "purl",
                "referenceLocator": f"pkg:npm/{name.replace('@', '%40')}@"
                                    f"{facts['version']}"}])


def sqlite():
    """SQLite as packaging/sqlite.sh gets it."""
    script = (ROOT / "packaging/sqlite.sh").read_text()
    found = re.search(r"# SQLite (\S+)$", script, re.M)[1]
    return package("sqlite", found, "blessing", externalRefs=[{
        "referenceCategory": "SECURITY", "referenceType": "cpe23Type",
        "referenceLocator": f"cpe:2.3:a:sqlite:sqlite:{found}:*:*:*:*:*:*:*"}])
