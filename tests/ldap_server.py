"""A slapd of our own for the tests: a database in a temporary folder, a port of its own on loopback, with StartTLS."""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import ldap3
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from ldap3.core.exceptions import LDAPException

from gridportal.base import processes as shell
from tests.servers import _end, _until

SUFFIX = "dc=example,dc=org"
ADMIN = f"cn=admin,{SUFFIX}"
PASSWORD = "of-the-directory"
_SLAPD = "/usr/sbin/slapd"
_CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/nis.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb.so
pidfile {folder}/pid
TLSCACertificateFile {folder}/certificate.pem
TLSCertificateFile {folder}/certificate.pem
TLSCertificateKeyFile {folder}/key.pem
disallow bind_anon
database mdb
maxsize 10485760
dbnosync
suffix "{suffix}"
rootdn "{admin}"
rootpw {password}
directory {folder}/data
"""
_ENTRIES = f"""
dn: {SUFFIX}
objectClass: dcObject
objectClass: organization
o: Example
dc: example

dn: ou=people,{SUFFIX}
objectClass: organizationalUnit
ou: people

dn: ou=groups,{SUFFIX}
objectClass: organizationalUnit
ou: groups
"""


@dataclass(frozen=True, slots=True)
class Slapd:
    """Where it is; `certificate` is what its own is checked against."""

    url: str
    certificate: Path

    def settings(self) -> dict[str, object]:
        """What the portal is set to."""
        return {
            "ldap_url": self.url,
            "ldap_base": f"ou=people,{SUFFIX}",
            "ldap_group_base": f"ou=groups,{SUFFIX}",
            "ldap_bind_dn": ADMIN,
            "ldap_bind_password": PASSWORD,
        }

    def person(self, uid: str, *, password: str = "", **attributes: str) -> str:
        """Add somebody; the whole name."""
        dn = f"uid={uid},ou=people,{SUFFIX}"
        known = {"uid": uid, "cn": uid, "sn": uid, "mail": f"{uid}@example.org"} | attributes
        self._do(lambda admin: admin.add(dn, ["inetOrgPerson"], known | {"userPassword": password or f"{uid}-secret"}))
        return dn

    def group(self, cn: str, *members: str) -> None:
        """Add a group of whole names, or with names alone one of uids."""
        dn = f"cn={cn},ou=groups,{SUFFIX}"
        if all("=" in member for member in members):
            self._do(lambda admin: admin.add(dn, ["groupOfNames"], {"member": list(members)}))
        else:
            self._do(lambda admin: admin.add(dn, ["posixGroup"], {"gidNumber": "7", "memberUid": list(members)}))

    def empty(self) -> None:
        """Nobody is there, and no group."""
        with self.admin() as admin:
            admin.search(SUFFIX, "(|(objectClass=person)(objectClass=groupOfNames)(objectClass=posixGroup))")
            for entry in list(admin.entries):
                admin.delete(entry.entry_dn)

    def rename(self, uid: str, new: str) -> None:
        """Somebody has another uid from now on."""
        self._do(lambda admin: admin.modify_dn(f"uid={uid},ou=people,{SUFFIX}", f"uid={new}"))

    def remove_group(self, cn: str) -> None:
        """The group is no more."""
        self._do(lambda admin: admin.delete(f"cn={cn},ou=groups,{SUFFIX}"))

    def admin(self) -> ldap3.Connection:
        """As who may do everything."""
        return ldap3.Connection(self.url, ADMIN, PASSWORD, auto_bind=True, check_names=False)

    def _do(self, change: object) -> None:
        with self.admin() as admin:
            assert change(admin), admin.result  # type: ignore[operator]


@contextmanager
def slapd_server() -> Iterator[Slapd]:
    """One that runs as long as this is open."""
    if not Path(_SLAPD).exists():
        pytest.skip("slapd is not installed: apt-get install slapd")
    with tempfile.TemporaryDirectory(prefix="gp-ldap-") as home:
        folder, port = Path(home), _free_port()
        (folder / "data").mkdir()
        _write_certificate(folder)
        configuration, entries = folder / "slapd.conf", folder / "entries.ldif"
        text = _CONFIGURATION.format(folder=folder, suffix=SUFFIX, admin=ADMIN, password=PASSWORD)
        configuration.write_text(text, encoding="ascii")
        entries.write_text(_ENTRIES, encoding="ascii")
        # Debian confines /usr/sbin/slapd to its own folders (AppArmor); a copy is another program.
        program = shutil.copy2(_SLAPD, folder / "slapd-of-tests")
        add = [program, "-T", "add", "-f", str(configuration), "-l", str(entries)]
        subprocess.run(add, check=True, capture_output=True, timeout=60)
        url = f"ldap://127.0.0.1:{port}"
        process = shell.start([program, "-d", "0", "-h", url, "-f", str(configuration)], stdout=subprocess.DEVNULL)
        try:
            slapd = Slapd(url, folder / "certificate.pem")
            _until(slapd.admin, LDAPException)
            yield slapd
        finally:
            _end(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _write_certificate(folder: Path) -> None:
    """One that vouches for itself, for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    addresses = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(addresses, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
