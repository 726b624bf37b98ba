#!/bin/sh
# Creates the secrets that examples/kubernetes/base mounts, in the namespace signalbox; existing secrets are kept.
# Logins come from the operators of examples/kubernetes/services. For other servers set DATABASE_OWNER_URL (a login that
# owns the database and may create roles), DATABASE_SERVER (host:port/database), AMQP_URL and AMQP_ADMIN_URL.
set -eu
umask 077
kube() { kubectl --namespace signalbox "$@"; }
random() { od -An -tx1 -N32 /dev/urandom | tr -d ' \n'; }
login() {
  encoded=$(kube get secret "$1" --output "jsonpath={.data.$2}")
  [ -n "$encoded" ] || { echo "the secret $1 has no $2" >&2; exit 1; }
  printf '%s' "$encoded" | base64 -d
}
nodes() {
  user=$(login rabbitmq-default-user username)
  password=$(login rabbitmq-default-user password)
  for node in 0 1 2; do
    [ "$node" = 0 ] || printf ,
    printf '%s' "$1://$user:$password@rabbitmq-server-$node.rabbitmq-nodes:$2"
  done
}

if kube get secret signalbox >/dev/null 2>&1; then
  echo 'the secret signalbox exists: nothing was changed'
  exit
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
owner=${DATABASE_OWNER_URL:-}
if [ -z "$owner" ]; then
  password=$(login postgres-app password)
  owner="postgres://signalbox:$password@postgres-rw:5432/signalbox"
fi
amqp=${AMQP_URL:-}
[ -n "$amqp" ] || amqp=$(nodes amqp 5672)
admin=${AMQP_ADMIN_URL:-}
[ -n "$admin" ] || admin=$(nodes http 15672)
printf '%s' "$owner" >"$folder/database-owner-url"
printf '%s' "postgres://signalbox_login:$(random)@${DATABASE_SERVER:-postgres-rw:5432/signalbox}" >"$folder/database-url"
printf '%s' "$amqp" >"$folder/amqp-url"
printf '%s' "$admin" >"$folder/amqp-admin-url"
random >"$folder/secret-key"
# Only the migration mounts the login of the owner. `defaultMode: 288` in the manifests is 0440, for the process's group.
kube create secret generic signalbox-owner --from-file="$folder/database-owner-url"
kube create secret generic signalbox --from-file="$folder/database-url" --from-file="$folder/amqp-url" \
  --from-file="$folder/amqp-admin-url" --from-file="$folder/secret-key"
