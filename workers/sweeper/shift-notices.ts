import type { Knex } from 'knex'
import { insertSummaries } from '#shared/monitoring/alerting/notification-store.ts'
import { sendChangeMail } from '#shared/monitoring/operations/shift-changes.ts'
import { type Announcement, createShiftNotices, sendNotices } from '#shared/monitoring/operations/shift-notices.ts'
import type { OutboxRow } from '#shared/platform/broker/outbox-store.ts'
import type { Micros } from '#shared/time.ts'
import { digestReaders } from '../digest-readers.ts'
import type { Tick } from './sweep.ts'

/** Creates and sends the notices about shifts and swaps that are due (docs/on-call.md#notices). */
export async function sendShiftNotices(deps: Tick['deps'], now: Micros): Promise<void> {
  for (let isDue = true; isDue; ) {
    const messages: OutboxRow[] = []
    isDue = await deps.outbox.run(async (tx, enqueue) => {
      messages.length = 0
      const send = async (announcement: Announcement) => void messages.push(...(await announce(tx, deps, announcement)))
      return await createShiftNotices(tx, enqueue, deps, { now, announce: send })
    })
    deps.outbox.publishLater(messages)
  }
  while (await deps.outbox.run((tx, enqueue) => sendChangeMail(tx, enqueue, deps, now)));
  await deps.outbox.run((tx, enqueue) => sendNotices(tx, enqueue, deps, now))
}

/** Integrations that keep a record per check get no message. */
async function announce(
  tx: Knex,
  deps: Tick['deps'],
  { schedule, title, text }: Announcement,
): Promise<readonly OutboxRow[]> {
  const uuids = schedule.notices.channels ?? []
  if (uuids.length === 0) return []
  const recipients = await digestReaders(tx, deps, { ids: [], uuids })
  const readers = new Map(uuids.flatMap((uuid) => recipients({ uuid }).readers).map((reader) => [reader.id, reader]))
  const link = `${deps.config.publicUrl}/projects/${schedule.projectUuid}/on-call/${schedule.uuid}`
  const list = { before: '', names: [text], size: 1, after: '' }
  const summary = { title, text, facts: [], list, link, linkText: 'Open the schedule' }
  return await insertSummaries(
    tx,
    [...readers.keys()].map((integrationId) => ({
      integrationId,
      what: 'shift',
      status: 'up',
      bundleId: null,
      summary,
    })),
  )
}
