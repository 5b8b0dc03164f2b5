# SPDX-License-Identifier: MIT
"""A PostgreSQL of the tests' own: on a socket and, with TLS, on loopback."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77
VERSIONS = pathlib.Path("/usr/lib/postgresql")


def programs():
    """The folder with initdb and postgres; ends the test where there is none."""
    folders = []
    if VERSIONS.is_dir():
        folders += sorted((f / "bin" for f in VERSIONS.iterdir()
                           if (f / "bin/postgres").exists()), reverse=True)
    if shutil.which("postgres"):
        folders.append(pathlib.Path(shutil.which("postgres")).resolve().parent)
    if not folders:
        print("skipped: PostgreSQL is not installed (apt install postgresql)")
        sys.exit(SKIPPED)
    return folders[0]


def as_owner():
    """PostgreSQL refuses to run as root: another user then owns it."""
    if os.geteuid() != 0:
        return []
    for user in ("postgres", "nobody"):
        if subprocess.run(["id", user], capture_output=True).returncode == 0:
            return ["setpriv", f"--reuid={user}", "--regid",
                    subprocess.check_output(["id", "-g", user], text=True)
                    .strip(), "--clear-groups"]
    print("skipped: root, and no other user to run PostgreSQL as")
    sys.exit(SKIPPED)


class Lent:
    """The database of this run: known once its tests begin."""

    def __getattr__(self, name):
        return getattr(self.__dict__["real"], name)


DATABASE = Lent()


def run_tests(takt, settings=("fsync=off",), modules=("__main__",)):
    """All tests of these modules, with one database; their exit status."""
    suite = unittest.TestSuite(
        unittest.defaultTestLoader.loadTestsFromName(name)
        for name in modules)
    DATABASE.real = Database(takt, settings)
    try:
        return 0 if unittest.TextTestRunner().run(suite).wasSuccessful() else 1
    finally:
        DATABASE.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True,
                   capture_output=True)


class Certificates:
    """A root, and servers' certificates that it signed."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.root = self.folder / "root.crt"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
                "-subj", "/CN=root of a test", "-keyout",
                self.folder / "root.key", "-out", self.root)

    def make(self, name, host, until="20990101000000Z"):
        """The certificate and the key of a server, valid until a date."""
        request = self.folder / f"{name}.csr"
        paths = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        openssl("req", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}",
                "-keyout", paths[1], "-out", request)
        (self.folder / "index").write_text("")
        (self.folder / "ca.cnf").write_text(
            "[ca]\ndefault_ca=a\n[a]\n"
            f"database={self.folder}/index\nrand_serial=yes\n"
            f"new_certs_dir={self.folder}\ndefault_md=sha256\npolicy=p\n"
            "copy_extensions=copy\n[p]\ncommonName=supplied\n")
        openssl("ca", "-batch", "-config", self.folder / "ca.cnf", "-cert",
                self.root, "-keyfile", self.folder / "root.key", "-in",
                request, "-out", paths[0], "-startdate", "20200101000000Z",
                "-enddate", until, "-notext")
        return paths


class Database:
    """A server with one database, `takt`, and the roles of a fleet."""

    def __init__(self, takt, settings=()):
        self.takt = takt
        self.bin = programs()
        self.owner = as_owner()
        self.settings = list(settings)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="takt-pg"))
        self.data = self.folder / "data"
        self.port = free_port()
        self.process = None
        try:
            self.make()
        except BaseException:
            self.close()
            raise

    def make(self):
        os.chmod(self.folder, 0o755)
        self.certificates = Certificates(self.folder)
        self.use_certificate(*self.certificates.make("server", "localhost"))
        self.own(self.folder)
        self.run("initdb", "-D", self.data, "-A", "trust", "-U", "owner",
                 "-E", "UTF8", "--locale=C", "--no-sync", "-k")
        self.write("pg_hba.conf", "local all all trust\n"
                   "hostssl all all 127.0.0.1/32 scram-sha-256\n")
        self.start()
        self.sql("CREATE DATABASE takt", database="postgres")
        self.sql(subprocess.check_output([self.takt, "fleet", "schema"], text=True))
        for user, role in (("node", "writer"), ("sums", "rollup"),
                           ("guest", "reader")):
            self.sql(f"CREATE USER {user} PASSWORD 'secret' "
                     f"IN ROLE takt_{role}")

    def own(self, path):
        if self.owner:
            user = self.owner[1].partition("=")[2]
            shutil.chown(path, user)

    def write(self, name, text):
        path = self.data / name
        path.write_text(text)
        self.own(path)

    def run(self, program, *words, check=True):
        return subprocess.run(
            [*self.owner, str(self.bin / program), *map(str, words)],
            check=check, capture_output=True, text=True, cwd="/")

    def use_certificate(self, certificate, key):
        shutil.copy(certificate, self.folder / "used.crt")
        shutil.copy(key, self.folder / "used.key")
        os.chmod(self.folder / "used.key", 0o600)
        for name in ("used.crt", "used.key"):
            self.own(self.folder / name)

    def start(self):
        settings = [
            "listen_addresses=127.0.0.1", f"port={self.port}",
            f"unix_socket_directories={self.folder}", "ssl=on",
            f"ssl_cert_file={self.folder}/used.crt",
            f"ssl_key_file={self.folder}/used.key", "max_connections=40",
            "shared_buffers=64MB", "restart_after_crash=off",
            "dynamic_shared_memory_type=mmap", *self.settings]
        log = open(self.folder / "log", "ab")
        environment = dict(os.environ)
        if "TAKT_TEST_FULL_DISK" in os.environ:
            # A copy: the owner may have no access to the folder of the build,
            # such as one below /root.
            library = self.folder / "full_disk.so"
            shutil.copy(os.environ["TAKT_TEST_FULL_DISK"], library)
            environment["LD_PRELOAD"] = str(library)
            environment["TAKT_TEST_FULL"] = str(self.folder / "full")
        self.process = subprocess.Popen(
            [*self.owner, str(self.bin / "postgres"), "-D", str(self.data),
             *(word for setting in settings for word in ("-c", setting))],
            stdout=log, stderr=log, cwd="/", env=environment)
        log.close()
        end = time.monotonic() + 60
        while self.run("pg_isready", "-h", self.folder, "-p", self.port,
                       "-U", "owner", "-d", "postgres",
                       check=False).returncode != 0:
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError((self.folder / "log").read_text())
            time.sleep(0.02)

    def fill_disk(self):
        """From now on the server can write nothing, if that can be had."""
        (self.folder / "full").touch()
        return "TAKT_TEST_FULL_DISK" in os.environ

    def free_disk(self):
        """The server may have given up meanwhile."""
        (self.folder / "full").unlink(missing_ok=True)
        ready = self.run("pg_isready", "-h", self.folder, "-p", self.port,
                         check=False).returncode == 0
        if not ready or self.process.poll() is not None:
            self.stop(signal.SIGQUIT)
            self.start()

    def stop(self, number=signal.SIGINT):
        """SIGINT: fast. SIGQUIT: at once, as when it crashed."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)
            self.process = None

    def close(self):
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder)

    def address(self, user="node", **settings):
        """Over the socket."""
        settings = dict(host=self.folder, port=self.port, dbname="takt",
                        user=user) | settings
        return " ".join(f"{key}='{value}'" for key, value in settings.items())

    def tls_address(self, user="node", password="secret", **settings):
        return self.address(user, **(dict(
            host="localhost", hostaddr="127.0.0.1", password=password,
            sslrootcert=self.certificates.root) | settings))

    def psql(self, database):
        return ["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v",
                "ON_ERROR_STOP=1", "-h", self.folder, "-p", str(self.port),
                "-U", "owner", "-d", database, "-f", "-"]

    def session(self, text):
        """A psql that has been told that, and waits for more."""
        session = subprocess.Popen(self.psql("takt"), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        session.stdin.write(text + "\n")
        session.stdin.flush()
        return session

    def sql(self, text, database="takt"):
        """Rows as lists of texts."""
        ran = subprocess.run(self.psql(database), input=text,
                             capture_output=True, text=True)
        if ran.returncode != 0:
            raise RuntimeError(ran.stderr)
        return [line.split("\t") for line in ran.stdout.splitlines()]
