import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { notificationDue } from '../../contracts/notification-due.ts'
import { type OutboxRow, RESEND_AFTER } from '../../platform/broker/outbox-store.ts'
import { query } from '../../platform/database/sql.ts'
import { QUEUED } from '../notifications/store.ts'

export interface AssignedChannel {
  id: number
  checkId: number
  kind: string
  sealedConfig: string
}

/** The integrations of checks that are not disabled: the fastest first, so that a slow one delays none of them. */
export async function assignedChannels(tx: Knex, checkIds: readonly number[]): Promise<AssignedChannel[]> {
  return await query<AssignedChannel>(
    tx,
    `SELECT c.id, a.check_id AS "checkId", c.kind, c.sealed_config AS "sealedConfig"
     FROM channels c JOIN check_channels a ON a.channel_id = c.id
     WHERE a.check_id = ANY(?::bigint[]) AND c.disabled_at IS NULL
     ORDER BY a.check_id, c.last_notify_duration_ms NULLS LAST, c.id`,
    [checkIds],
  )
}

/** One message about one flip for one integration. */
export interface DirectTelling {
  flipId: number
  checkId: number
  channelId: number
  status: 'up' | 'down'
}

/**
 * Stores notifications and their messages, for many flips in one statement; an integration that has one for a flip
 * already gets no second. @returns the messages, to be published after the commit
 */
export async function insertTellings(tx: Knex, tellings: readonly DirectTelling[]): Promise<OutboxRow[]> {
  if (tellings.length === 0) return []
  return await query<OutboxRow>(
    tx,
    `WITH made AS (
       INSERT INTO notifications (id, channel_id, check_id, flip_id, check_status, next_attempt_at, queued_until)
       SELECT id, channel_id, check_id, flip_id, status, now(), now() + ?::interval
       FROM unnest(?::uuid[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[])
            AS t(id, channel_id, check_id, flip_id, status)
       ON CONFLICT (flip_id, channel_id) WHERE flip_id IS NOT NULL DO NOTHING RETURNING id)
     INSERT INTO outbox (message_id, message, payload, resend_at)
     SELECT gen_random_uuid(), ?, jsonb_build_object('notificationId', id), now() + ?::interval FROM made
     RETURNING id, message_id AS "messageId", message, payload`,
    [
      QUEUED,
      tellings.map(() => randomUUID()),
      tellings.map(({ channelId }) => channelId),
      tellings.map(({ checkId }) => checkId),
      tellings.map(({ flipId }) => flipId),
      tellings.map(({ status }) => status),
      notificationDue.name,
      RESEND_AFTER,
    ],
  )
}
