import base64
import hashlib
import hmac
import os
import sys
import time

TOLERANCE_SECONDS = 5 * 60


def verify(secret, message_id, timestamp, signature, body, now=None):
    """Returns True if the service signed exactly these bytes within five minutes. body: bytes as received."""
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        return False
    if abs((time.time() if now is None else now) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = key_of(secret)
    if key is None:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # During a rotation of the secret there are several signatures, and one valid signature is enough.
    for one in signature.split(" "):
        version, _, text = one.partition(",")
        if version == "v1" and hmac.compare_digest(text.encode(), expected):
            return True
    return False


def key_of(secret):
    """Returns None for a missing or damaged secret, because anyone can sign with an empty key."""
    text = secret[len("whsec_") :] if secret.startswith("whsec_") else ""
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return key if len(key) >= 24 and base64.b64encode(key).decode() == text else None


if __name__ == "__main__":
    env = os.environ
    is_ours = verify(
        env.get("WEBHOOK_SECRET", ""),
        env.get("WEBHOOK_ID", ""),
        env.get("WEBHOOK_TIMESTAMP", ""),
        env.get("WEBHOOK_SIGNATURE", ""),
        sys.stdin.buffer.read(),
    )
    sys.exit(0 if is_ours else 1)
