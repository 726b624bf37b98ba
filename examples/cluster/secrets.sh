#!/bin/sh
# Creates the URLs of the cluster from the secrets of `sh stack/secrets.sh`, and the cookie of its brokers.
set -eu
folder=${1:-"$(dirname "$0")/../../.local/secrets"}
umask 022
mkdir -p "$folder/cluster"
password=$(cat "$folder/broker_password")
nodes() { for node in rabbitmq rabbitmq-2 rabbitmq-3; do printf '%s%s' "$separator" "$1$node:$2"; separator=,; done; }
separator= ; nodes "amqp://signalbox:$password@" 5672 >"$folder/cluster/amqp_url"
separator= ; nodes "http://signalbox:$password@" 15672 >"$folder/cluster/amqp_admin_url"
for name in database_url database_owner_url; do
  sed 's/@postgres:5432/@postgres:5432,standby:5432/' "$folder/$name" >"$folder/cluster/$name"
done
[ -s "$folder/cluster/erlang_cookie" ] || od -An -tx1 -N20 /dev/urandom | tr -d ' \n' >"$folder/cluster/erlang_cookie"
