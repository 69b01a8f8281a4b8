"""E-mail by SMTP: one letter to one address."""

from __future__ import annotations

import smtplib
import ssl
from dataclasses import dataclass
from email.errors import MessageError
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from urllib.parse import unquote, urlsplit

from scheduling.notices.adapters.delivery_error import DeliveryError
from scheduling.notices.core.letter import Letter

TIME_LIMIT = 10.0
_NO_ADDRESS = "No letter can be sent to this e-mail address. Choose another one on the page Notices."
_PORTS = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where letters are handed in.

    >>> MailServer.read("smtp+starttls://portal:p%40ss@mail.example")
    MailServer(scheme='smtp+starttls', host='mail.example', port=587, user='portal', password='p@ss')
    """

    scheme: str
    host: str
    port: int
    user: str = ""
    password: str = ""

    @classmethod
    def read(cls, url: str) -> MailServer:
        """From the setting, which was checked when the portal started."""
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
        return cls(
            parts.scheme, parts.hostname or "", port, unquote(parts.username or ""), unquote(parts.password or "")
        )


def message_of(letter: Letter, sender: str, to: str) -> EmailMessage:
    """The letter as it is sent. Its Message-ID is the same at every attempt, so that mail programs show it once. Raises
    DeliveryError for an address that no letter can have."""
    message = EmailMessage()
    try:
        message["To"] = to
    except (ValueError, LookupError, MessageError) as error:  # the library's reader raises all of these
        raise DeliveryError(_NO_ADDRESS, lasting=True) from error
    message["From"], message["Subject"] = sender, " ".join(letter.title.split())
    message["Date"] = format_datetime(letter.at)
    message["Message-ID"] = f"<{letter.key}@{sender.rpartition('@')[2].strip('> ') or make_msgid()}>"
    message["Auto-Submitted"] = "auto-generated"
    lines = [letter.text, letter.link, "-- \nGridPortal. Which notices you get is a choice on its page Notices."]
    message.set_content("\n\n".join(line for line in lines if line) + "\n")
    for each in letter.attachments:
        message.add_attachment(each.content, each.main_type, each.sub_type, filename=each.name)
    return message


def send(server: MailServer, message: EmailMessage) -> None:
    """Hand it in once. Raises DeliveryError."""
    try:
        with _connected(server) as link:
            if server.scheme == "smtp+starttls":
                link.starttls(context=ssl.create_default_context())
            if server.user:
                link.login(server.user, server.password)
            link.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        raise DeliveryError("The mail server does not take this address.", lasting=_lasts(error)) from error
    except smtplib.SMTPNotSupportedError as error:
        raise DeliveryError("The mail server takes no address with such letters.", lasting=True) from error
    except smtplib.SMTPResponseException as error:
        raise DeliveryError(f"The mail server answered with code {error.smtp_code}.") from error
    except ValueError as error:  # not to be written down as such a server reads it
        raise DeliveryError(_NO_ADDRESS, lasting=True) from error
    except (OSError, smtplib.SMTPException) as error:
        raise DeliveryError(f"The mail server did not answer: {type(error).__name__}.") from error


def _connected(server: MailServer) -> smtplib.SMTP:
    if server.scheme == "smtps":
        context = ssl.create_default_context()
        return smtplib.SMTP_SSL(server.host, server.port, timeout=TIME_LIMIT, context=context)
    return smtplib.SMTP(server.host, server.port, timeout=TIME_LIMIT)


def _lasts(error: smtplib.SMTPRecipientsRefused) -> bool:
    """Codes from 500 on are for good; such as 450 are for now (RFC 5321, 4.2.1)."""
    return all(code >= 500 for code, _ in error.recipients.values())
