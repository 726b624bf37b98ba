import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import { contactMessageDue } from '#shared/contracts/worker-messages.ts'
import type { Outcome } from '#shared/delivery/outcome.ts'
import { maskedAddress, withoutShared } from '#shared/monitoring/contacts/contact-kinds.ts'
import { type ContactMethod, isUsable } from '#shared/monitoring/contacts/contact-method.ts'
import {
  ensureAccountMethods,
  findContactRow,
  listContactRows,
  recordContactAttempt,
  saveContactConfig,
} from '#shared/monitoring/contacts/contact-store.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import { disabledMethodOf } from '#shared/monitoring/notifications/callback-store.ts'
import type { Notification } from '#shared/monitoring/notifications/notification.ts'
import { oneLine } from '#shared/monitoring/notifications/text-parts.ts'
import { contactMethodOf } from '#shared/monitoring/operations/contact-config.ts'
import type { Outbox } from '#shared/platform/broker/outbox.ts'
import { describeError } from '#shared/platform/process/log.ts'
import { microsOfSeconds } from '#shared/time.ts'
import { INTERNAL_ERROR, type NotifierContext } from './context.ts'
import { transportSettings } from './transport-settings.ts'
import { transports } from './transports/registry.ts'
import type { TransportContext } from './transports/transport.ts'

const NOTICE_SECONDS = 3600

/** Makes one attempt by the transport of the kind. */
export async function sendByMethod(
  context: NotifierContext,
  method: ContactMethod,
  notification: Notification,
  { isStored = false } = {},
): Promise<Outcome> {
  try {
    const transport = transports.get(method.kind)
    return transport
      ? await transport.send(transportContext(context, method, isStored), method.config, notification)
      : INTERNAL_ERROR
  } catch (error) {
    context.log.error({ methodId: method.id, kind: method.kind, ...describeError(error) }, 'transport.failed')
    return INTERNAL_ERROR
  }
}

function transportContext(context: NotifierContext, method: ContactMethod, isStored: boolean): TransportContext {
  const { db, secrets, http, gatewayHttp, mailer } = context
  // Bounces and callbacks name a stored notification.
  const { bounceAddressOf, callbackUrlOf, ...settings } = transportSettings(context)
  return {
    http,
    gatewayHttp,
    mailer,
    settings: isStored
      ? { ...settings, ...(bounceAddressOf && { bounceAddressOf }), ...(callbackUrlOf && { callbackUrlOf }) }
      : settings,
    now: Date.now,
    async saveConfig(changed) {
      const own = method.via === null ? changed : withoutShared(method.kind, changed)
      await saveContactConfig(db, method.id, secrets.seal('contact', JSON.stringify(own)))
    },
    sendToMembers: async () => [],
  }
}

/**
 * A permanent failure disables the method and sends a notice through the person's other methods. `store` runs in the same
 * transaction, after the method was locked.
 */
export async function recordMethodAttempt(
  context: NotifierContext,
  method: ContactMethod,
  outcome: Outcome,
  store: (tx: Knex) => Promise<void> = async () => {},
): Promise<void> {
  const { id, kind } = method
  const error = outcome.result === 'delivered' ? '' : outcome.error
  const isDisabledNow = await context.outbox.run(async (tx, enqueue) => {
    const isDisabled = await recordContactAttempt(tx, id, { error, disables: outcome.result === 'permanent' })
    await store(tx)
    if (isDisabled) await notifyMethodDisabled(context, { tx, enqueue }, method, error)
    return isDisabled
  })
  context.metrics.notifications.inc({ kind, outcome: outcome.result })
  context.log.info({ methodId: id, kind, outcome: outcome.result, isDisabledNow }, 'contact.attempted')
}

/** For a bounce or a gateway callback. Skips a method that was enabled again. */
export async function notifyMethodDisabledLater(context: NotifierContext, notificationId: string): Promise<void> {
  const found = await disabledMethodOf(context.db, notificationId)
  const row = found && (await findContactRow(context.db, null, found.methodId))
  if (!found || !row) return
  const method = contactMethodOf(row, context.secrets)
  await context.outbox.run(async (tx, enqueue) => {
    await notifyMethodDisabled(context, { tx, enqueue }, method, found.error.replace(/\.$/, ''))
  })
}

interface Transaction {
  tx: Knex
  enqueue: Parameters<Parameters<Outbox['run']>[0]>[1]
}

async function notifyMethodDisabled(
  context: NotifierContext,
  { tx, enqueue }: Transaction,
  method: ContactMethod,
  error: string,
): Promise<void> {
  await ensureAccountMethods(tx, [method.userId])
  const others = (await listContactRows(tx, [method.userId])).filter((row) => row.id !== method.id)
  const sealedText = context.secrets.seal('contact', noticeText(method, error))
  const beginBy = context.now() + microsOfSeconds(NOTICE_SECONDS)
  for (const row of others) {
    if (!isUsable(contactMethodOf(row, context.secrets), context.config)) continue
    const message = { messageId: randomUUID(), methodId: row.id, what: 'disabled' as const, sealedText, beginBy }
    await enqueue(contactMessageDue, message)
  }
}

function noticeText({ kind, name, config }: ContactMethod, error: string): string {
  const label = findKind(kind)?.label ?? kind
  const address = config === null ? '' : ` (${maskedAddress(kind, config)})`
  return oneLine(`${name || label}${address} receives nothing until you enable it: ${error}.`)
}
