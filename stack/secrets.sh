#!/bin/sh
# Creates the secret files that compose.yaml mounts; existing files are kept.
# Other users of this machine cannot open the folder. Its files are readable, because containers mount them as other
# users.
set -eu
folder=${1:-"$(dirname "$0")/../.local/secrets"}
umask 022
mkdir -p "$folder"
chmod 700 "$folder"

random() { od -An -tx1 -N32 /dev/urandom | tr -d ' \n'; }
keep() { [ -s "$folder/$1" ] || printf '%s' "$2" >"$folder/$1"; }

# Optional secrets, empty until you fill them.
for name in registries smtp_url secret_key_previous; do
  [ -e "$folder/$name" ] || : >"$folder/$name"
done
keep secret_key "$(random)"
keep database_password "$(random)"
keep broker_password "$(random)"
keep database_login_password "$(random)"
keep database_owner_url "postgres://signalbox:$(cat "$folder/database_password")@postgres:5432/signalbox"
# Migrations create this login, which owns nothing.
keep database_url "postgres://signalbox_login:$(cat "$folder/database_login_password")@postgres:5432/signalbox"
keep amqp_url "amqp://signalbox:$(cat "$folder/broker_password")@rabbitmq:5672"
keep rabbitmq.conf "default_user = signalbox
default_pass = $(cat "$folder/broker_password")
"
