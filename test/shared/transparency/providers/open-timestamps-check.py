"""Reads .ots proofs (base64, one a line) with the reference library; prints digest, attestations and whether the
library writes the same bytes again."""
import base64
import io
import sys

from opentimestamps.core.serialize import BytesDeserializationContext, StreamSerializationContext
from opentimestamps.core.timestamp import DetachedTimestampFile

for line in sys.stdin:
    raw = base64.b64decode(line.strip())
    proof = DetachedTimestampFile.deserialize(BytesDeserializationContext(raw))
    out = io.BytesIO()
    proof.serialize(StreamSerializationContext(out))
    found = sorted(
        "%s %s %s" % (type(a).__name__, message.hex(), getattr(a, "height", getattr(a, "uri", "")))
        for message, a in proof.timestamp.all_attestations()
    )
    print(proof.file_digest.hex(), "|".join(found), out.getvalue() == raw)
