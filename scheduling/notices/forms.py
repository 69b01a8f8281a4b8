"""The form by which a person chooses what to be told."""

from __future__ import annotations

from typing import Any

from django import forms

from gridportal.web.worded_form import WordedForm
from scheduling.notices.core.notice_kinds import CHOSEN, Channel, WebhookFormat
from scheduling.notices.core.webhook_address import LONGEST
from scheduling.notices.models import NoticeSettings
from scheduling.notices.notice_messages import FORMATS, KINDS

_CHOICES = [(kind.value, KINDS[kind]) for kind in CHOSEN]


class NoticesForm(WordedForm):
    """Kinds by channel, and where e-mails and webhooks go. `services.choices` checks addresses."""

    page = forms.MultipleChoiceField(choices=_CHOICES, required=False)
    email = forms.MultipleChoiceField(choices=_CHOICES, required=False)
    webhook = forms.MultipleChoiceField(choices=_CHOICES, required=False)
    email_address = forms.CharField(
        label="E-mail address", required=False, max_length=254, help_text="Empty: that of your account."
    )
    webhook_format = forms.ChoiceField(
        label="The webhook takes", choices=[(each.value, FORMATS[each]) for each in WebhookFormat]
    )
    webhook_url = forms.CharField(
        label="Webhook address",
        required=False,
        max_length=LONGEST,
        help_text="Slack: the address of an incoming webhook. Matrix: "
        "https://SERVER/_matrix/client/v3/rooms/ROOM/send/m.room.message",
    )

    @classmethod
    def of(cls, row: NoticeSettings) -> NoticesForm:
        """Filled in as it is now."""
        return cls(initial=cls.first_values(row))

    @classmethod
    def first_values(cls, row: NoticeSettings) -> dict[str, Any]:
        """What the fields hold at first."""
        return {name: getattr(row, name) for name in cls.base_fields}

    @property
    def rows(self) -> list[tuple[str, str, list[tuple[str, bool]]]]:
        """A row for each kind: its word, its name, and for each channel whether it is chosen."""
        chosen = {channel.value: self[channel.value].value() or [] for channel in Channel}
        return [(kind, label, [(name, kind in kinds) for name, kinds in chosen.items()]) for kind, label in _CHOICES]

    @property
    def kind_fields(self) -> list[Any]:
        """The fields of kinds, which the page shows as one table."""
        return [self[channel.value] for channel in Channel]

    @property
    def address_fields(self) -> list[Any]:
        """The fields that are no kinds."""
        return [self[name] for name in ("email_address", "webhook_format", "webhook_url")]
