import type { Knex } from 'knex'
import { columns, query, typed } from '../../platform/database/sql.ts'

export interface FinishedPack {
  id: string
  /** the pack as JSON text, exactly as returned */
  body: string
  signalLevel: string
  txId: string
  entry: Uint8Array
  /** the evidence as JSON text */
  evidence: string
  event: { id: string; type: string; dealId: string; body: string; occurredAt: string; txId: string; entry: Uint8Array }
}

export interface StoredPack {
  id: string
  /** endpoints may need the event */
  hasEndpoints: boolean
}

/** One statement. Of concurrent composers one succeeds. Returns the packs that were finished now. */
export async function finishPacks(tx: Knex, packs: readonly FinishedPack[]): Promise<StoredPack[]> {
  const hex = (text: string) => Buffer.from(text, 'hex')
  return await query(tx, FINISH, [
    packs.map(({ id }) => id),
    packs.map(({ body }) => body),
    packs.map(({ signalLevel }) => signalLevel),
    packs.map(({ txId }) => hex(txId)),
    packs.map(({ entry }) => Buffer.from(entry)),
    packs.map(({ evidence }) => evidence),
    packs.map(({ event }) => event.id),
    packs.map(({ event }) => event.type),
    packs.map(({ event }) => event.dealId),
    packs.map(({ event }) => event.body),
    packs.map(({ event }) => event.occurredAt),
    packs.map(({ event }) => hex(event.txId)),
    packs.map(({ event }) => Buffer.from(event.entry)),
  ])
}

const STORED_PACK_COLUMNS = columns<StoredPack>({
  id: 'd.id',
  hasEndpoints: `EXISTS (
    SELECT 1 FROM webhook_endpoints e
    WHERE e.organisation_id = d.organisation_id AND e.env = d.env AND e.state <> 'DELETED')`,
})

const FINISH = typed`
  WITH given AS (
    SELECT * FROM unnest(?::uuid[], ?::text[], ?::text[], ?::bytea[], ?::bytea[], ?::text[], ?::uuid[], ?::text[],
      ?::text[], ?::text[], ?::timestamptz[], ?::bytea[], ?::bytea[])
    AS t(id, body, signal_level, tx_id, entry, evidence, event_id, event_type, event_deal_id, event_body, occurred_at,
      event_tx_id, event_entry)),
  done AS (
    UPDATE packs p SET state = 'READY', body = g.body, signal_level = g.signal_level, tx_id = g.tx_id,
      finished_at = now()
    FROM given g WHERE p.id = g.id AND p.state = 'QUEUED'
    RETURNING p.organisation_id, p.env, p.idempotency_key, g.*),
  proven AS (INSERT INTO pack_evidence (pack_id, body) SELECT id, evidence FROM done),
  logged AS (
    INSERT INTO log_entries (env, leaf_hash, entry)
    SELECT d.env, e.leaf_hash, e.entry
    FROM done d CROSS JOIN LATERAL (VALUES (d.tx_id, d.entry), (d.event_tx_id, d.event_entry)) AS e(leaf_hash, entry)
    ON CONFLICT DO NOTHING),
  metered AS (
    INSERT INTO usage_units (organisation_id, env, family, unit_key, on_date)
    SELECT organisation_id, env, 'risk-signals', 'pack/' || id, (now() AT TIME ZONE 'UTC')::date FROM done
    ON CONFLICT DO NOTHING),
  notified AS (
    INSERT INTO events (id, organisation_id, env, type, deal_id, body, occurred_at)
    SELECT event_id, organisation_id, env, event_type, event_deal_id, event_body, occurred_at FROM done),
  answered AS (
    UPDATE idempotency_keys k SET status = 200, headers = '{}', body = d.body, lease_until = NULL
    FROM done d
    WHERE k.organisation_id = d.organisation_id AND k.env = d.env AND k.key = d.idempotency_key
      AND k.lease_until > now())
  SELECT ${STORED_PACK_COLUMNS} FROM done d`
