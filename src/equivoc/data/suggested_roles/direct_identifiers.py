"""Values that identify a person directly: addresses, and numbers whose check digits fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

LOOKED_AT = 500
"""Different values that are looked at."""
LEAST = 20
"""With fewer values than this, check digits may fit by chance."""
FITTING = 0.95

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_URL = re.compile(r"https?://\S+")
_UUID = re.compile(r"[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}")
_PHONE = re.compile(
    r"(\+|00)[1-9][\d ()/.-]{6,18}|\(?0\d{1,4}\)?[ /-][\d /-]{4,14}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}"
)
_SSN = re.compile(r"(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}")
_IP = re.compile(r"(\d{1,3}\.){3}\d{1,3}")
_NINO = re.compile(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?(\d\d ?){3}[A-D]")
_POINT = re.compile(r"[+-]?\d{1,3}\.\d{4,}[,; ]\s*[+-]?\d{1,3}\.\d{4,}")


def _digits(text: str, many: int) -> list[int] | None:
    plain = re.sub(r"[ .\-/]", "", text)
    return [int(c) for c in plain] if len(plain) == many and plain.isascii() and plain.isdigit() else None


def is_iban(text: str) -> bool:
    """An account number whose check digits fit.

    >>> is_iban("DE89 3704 0044 0532 0130 00"), is_iban("DE88 3704 0044 0532 0130 00")
    (True, False)
    """
    plain = text.replace(" ", "").upper()
    if not re.fullmatch(r"[A-Z]{2}\d{2}[A-Z0-9]{10,30}", plain):
        return False
    return int("".join(str(int(c, 36)) for c in plain[4:] + plain[:4])) % 97 == 1


def _luhn(text: str) -> bool:
    """A card number: 13 to 19 digits."""
    plain = re.sub(r"[ -]", "", text)
    if not (13 <= len(plain) <= 19 and plain.isascii() and plain.isdigit()):
        return False
    doubled = (int(c) * (1 + place % 2) for place, c in enumerate(reversed(plain)))
    return sum(n - 9 * (n > 9) for n in doubled) % 10 == 0


def _pesel(text: str) -> bool:
    found = _digits(text, 11)
    return found is not None and _weighed(found[:10], (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10 == -found[10] % 10


def _bsn(text: str) -> bool:
    found = _digits(text, 9)
    return found is not None and any(found) and _weighed(found, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def _nif(text: str) -> bool:
    found = _digits(text, 9)
    if found is None or not any(found):
        return False
    rest = _weighed(found[:8], (9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return found[8] == (0 if rest < 2 else 11 - rest)


def _cpf(text: str) -> bool:
    found = _digits(text, 11)
    if found is None or len(set(found)) == 1:
        return False
    return all(
        _weighed(found[:end], tuple(range(end + 1, 1, -1))) * 10 % 11 % 10 == found[end] for end in (9, 10)
    )


def _steuer_id(text: str) -> bool:
    """German tax number: ISO 7064, MOD 11,10."""
    found = _digits(text, 11)
    if found is None or not found[0]:
        return False
    product = 10
    for digit in found[:10]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return (11 - product) % 10 == found[10]


def _nir(text: str) -> bool:
    """French number of social security."""
    plain = re.sub(r"[ .]", "", text).upper().replace("2A", "19").replace("2B", "18")
    return bool(re.fullmatch(r"[1278]\d{14}", plain)) and 97 - int(plain[:13]) % 97 == int(plain[13:])


def _dni(text: str) -> bool:
    """Spanish number of identity: eight digits (or X, Y, Z and seven) and a letter."""
    plain = re.sub(r"[ .-]", "", text).upper()
    if not re.fullmatch(r"[XYZ\d]\d{7}[A-Z]", plain):
        return False
    number = int(plain[:8].translate(str.maketrans("XYZ", "012")))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[number % 23] == plain[8]


_ODD = dict(
    zip(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16,
         10, 22, 25, 24, 23),
        strict=True,
    )
)  # fmt: skip


def _codice_fiscale(text: str) -> bool:
    plain = text.strip().upper()
    if not re.fullmatch(r"[A-Z]{6}[A-Z0-9]{2}[A-EHLMPRST][A-Z0-9]{2}[A-Z][A-Z0-9]{3}[A-Z]", plain):
        return False
    even = sum(int(c) if c.isdigit() else ord(c) - 65 for c in plain[1:15:2])
    return chr(65 + (even + sum(_ODD[c] for c in plain[0:15:2])) % 26) == plain[15]


def _ahv(text: str) -> bool:
    found = _digits(text, 13)
    return (
        found is not None
        and found[:3] == [7, 5, 6]
        and _weighed(found[:12], (1, 3) * 6) % 10 == -found[12] % 10
    )


def _weighed(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True))


_FORMS: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("e-mail addresses", _EMAIL.fullmatch),
    ("account numbers (IBAN)", is_iban),
    ("addresses of web pages", _URL.fullmatch),
    ("unique codes (UUID)", _UUID.fullmatch),
    ("social security numbers", _SSN.fullmatch),
    ("national insurance numbers", _NINO.fullmatch),
    ("addresses of computers", _IP.fullmatch),
    ("places on the map", _POINT.fullmatch),
    ("Italian tax codes", _codice_fiscale),
    ("Spanish identity numbers", _dni),
    ("French social security numbers", _nir),
    ("Swiss social security numbers", _ahv),
    ("card numbers", _luhn),
    ("Polish PESEL numbers", _pesel),
    ("Brazilian CPF numbers", _cpf),
    ("German tax numbers", _steuer_id),
    ("Dutch citizen numbers", _bsn),
    ("Portuguese tax numbers", _nif),
    ("phone numbers", _PHONE.fullmatch),
)


def form_of(values: Sequence[str]) -> str | None:
    """What nearly all of these different values are, in the plural; None if they are nothing of the kind.

    >>> form_of([f"person{n}@example.org" for n in range(30)])
    'e-mail addresses'
    """
    shown = [value.strip() for value in values[:LOOKED_AT]]
    if len(shown) < LEAST:
        return None
    for form, fits in _FORMS:
        if fits(shown[0]) or fits(shown[1]):  # most columns end here
            many = sum(bool(fits(value)) for value in shown)
            if many >= FITTING * len(shown):
                return form
    return None
