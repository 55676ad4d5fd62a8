"""What `${secret:name}` in the parameters stands for.

It comes sealed to the key of the executor's group, which its executors alone have: no node can read it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from nacl.exceptions import CryptoError
from nacl.public import PrivateKey, SealedBox

from campanile._failure import secret_closed, secret_missing
from campanile.executor.v1 import executor_pb2 as v1

MARK = re.compile(r"\$\{secret:([^}]*)\}")

# What stands where a secret was said.
MASKED = "***"

# A shorter value is not masked: hiding every "1" of a log would hide the log.
SHORTEST_MASKED = 4


def read_secret_key(path: str) -> str:
    """A key as `campanile secret keygen` wrote it, for `Executor(secret_key=...)`."""
    with open(path, encoding="utf-8") as file:
        lines = (line.strip() for line in file)
        return next(line for line in lines if line and not line.startswith("#"))


def key_of(text: str) -> PrivateKey | None:
    """None where the executor has no key and takes no secrets."""
    if not text:
        return None
    try:
        return PrivateKey(bytes.fromhex(text))
    except (CryptoError, ValueError, TypeError):
        raise ValueError("a secret key is 64 hexadecimal digits") from None


def unsealed(key: PrivateKey | None, sealed: Iterable[v1.SealedSecret]) -> dict[str, str]:
    """The secrets by name; the refusal of one that does not open does not say its value."""
    secrets = {}
    for secret in sealed:
        if key is None:
            raise secret_closed(secret.name)
        try:
            secrets[secret.name] = SealedBox(key).decrypt(secret.ciphertext).decode()
        except (CryptoError, ValueError, TypeError):
            raise secret_closed(secret.name) from None
    return secrets


def fill_in(value: Any, secrets: dict[str, str]) -> Any:
    """Puts secrets into every text of a JSON value, keys left alone."""
    if isinstance(value, str):
        return MARK.sub(lambda mark: _secret(mark, secrets), value)
    if isinstance(value, list):
        return [fill_in(inner, secrets) for inner in value]
    if isinstance(value, dict):
        return {key: fill_in(inner, secrets) for key, inner in value.items()}
    return value


def _secret(mark: re.Match[str], secrets: dict[str, str]) -> str:
    if mark[1] not in secrets:
        raise secret_missing(mark[1])
    return secrets[mark[1]]


def masking(secrets: dict[str, str]) -> Callable[[str], str]:
    """Hides the values wherever the attempt says them."""
    lines = {line for value in secrets.values() for line in value.split("\n") if len(line) >= SHORTEST_MASKED}
    if not lines:
        return lambda text: text
    # The longest first: one that is part of another must not leave the rest of it.
    hidden = re.compile("|".join(re.escape(line) for line in sorted(lines, key=len, reverse=True)))
    return lambda text: hidden.sub(MASKED, text)
