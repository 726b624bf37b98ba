#!/bin/sh
# Succeeds if the service signed exactly these bytes within the last five minutes. Needs openssl.
set -eu

case "$WEBHOOK_TIMESTAMP" in '' | *[!0-9]* | ?????????????*) exit 1 ;; esac
age=$(($(date +%s) - WEBHOOK_TIMESTAMP))
if [ "$age" -gt 300 ] || [ "$age" -lt -300 ]; then exit 1; fi

# Refuse a missing or damaged secret: openssl decodes invalid base64 too, and anyone can sign with an empty key.
case "${WEBHOOK_SECRET-}" in whsec_?*) secret=${WEBHOOK_SECRET#whsec_} ;; *) exit 1 ;; esac
[ "$(printf '%s' "$secret" | openssl base64 -d -A | openssl base64 -A)" = "$secret" ] || exit 1
key=$(printf '%s' "$secret" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
[ "${#key}" -ge 48 ] || exit 1
# The body is piped, because a shell variable would lose trailing line feeds.
expected=$({ printf '%s.%s.' "$WEBHOOK_ID" "$WEBHOOK_TIMESTAMP"; cat; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)

# During a rotation of the secret there are several signatures, and one valid signature is enough.
for one in $WEBHOOK_SIGNATURE; do
  if [ "$one" = "v1,$expected" ]; then exit 0; fi
done
exit 1
