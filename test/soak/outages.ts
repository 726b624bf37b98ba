import type { Knex } from 'knex'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { query } from '#shared/platform/database/sql.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { addMail, addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { addCheck } from '../support/projects.ts'
import { openSmtpSink } from '../support/smtp-sink.ts'
import type { Traffic } from './traffic.ts'
import { withRetries } from './with-retries.ts'

/** Maximum wait until a silent check is down, including a deadline extension. */
const DOWN_MS = 150_000
/** Maximum wait for the expected notifications. */
const NOTIFIED_MS = 150_000
/** Period of a check that stops pinging. */
const PERIOD = { timeoutSeconds: 8, graceSeconds: 2 }

/** Receivers of alerts, with counts of the messages. */
export interface Receivers extends AsyncDisposable {
  hookUrl: string
  mailUrl: string
  /** number of received webhooks and mails for each `down NAME` or `up NAME` */
  notified: { hooks: Map<string, number>; mails: Map<string, number> }
  /** Refuses or accepts all messages. */
  refuse(isOn: boolean): void
}

export async function openReceivers(): Promise<Receivers> {
  await using opened = new AsyncDisposableStack()
  const hook = opened.use(await openHttpSink())
  const mail = opened.use(await openSmtpSink())
  const hooks = new Map<string, number>()
  let isRefusing = false
  hook.respond = ({ path, body }) => {
    if (isRefusing) return { status: 503 }
    count(hooks, `${path.slice(1)} ${body.toString()}`)
    return { status: 200 }
  }
  mail.refuse = () => (isRefusing ? { code: 451, at: 'RCPT' } : null)
  const resources = opened.move()
  return {
    hookUrl: hook.url,
    mailUrl: mail.url,
    notified: {
      hooks,
      get mails() {
        const mails = new Map<string, number>()
        for (const { raw } of mail.mails) {
          const [, status = '', name = ''] = /^Subject: (DOWN|UP) \| (\S+)/m.exec(raw.toString()) ?? []
          count(mails, `${status.toLowerCase()} ${name}`)
        }
        return mails
      },
    },
    refuse(isOn) {
      isRefusing = isOn
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

function count(of: Map<string, number>, key: string): void {
  of.set(key, (of.get(key) ?? 0) + 1)
}

type Status = 'down' | 'up'

interface Outage {
  check: Check
  name: string
  /** reports a failure instead of stopping its pings */
  fails: boolean
}

/** Results of the outages during one fault. */
interface OutagesReport {
  /** number of expected flips and messages */
  expectedFlips: number
  expectedMessages: number
  /** one line per missing or duplicate flip or message */
  found: string[]
  /** allowed duplicates: messages with an attempt whose result was not recorded */
  repeated: number
}

export interface OutageScenario {
  /** Adds checks that are up and ping for the last time now. */
  begin(silent: number, failing: number): Promise<void>
  /** Sends the fail pings, with retries until they are accepted. */
  fail(): Promise<void>
  /** Waits until all checks are down, lets them recover, and compares the notifications. */
  end(): Promise<OutagesReport>
}

interface SoakEnvironment {
  db: Knex
  secrets: Secrets
  projectId: number
  traffic: Traffic
  receivers: Receivers
}

/** Brings checks down and up again, and verifies the resulting notifications. */
export async function openOutageScenario(environment: SoakEnvironment): Promise<OutageScenario> {
  const { db, projectId, traffic, receivers } = environment
  const hook = await addWebhook(environment, projectId, receivers.hookUrl)
  // An address has a limit of thirty mails a minute.
  const mails = await Promise.all([1, 2, 3, 4].map((n) => addMail(environment, projectId, `ops${n}@example.org`)))
  await db('integrations').where({ kind: 'email' }).update({ email_verified: true })
  let made = 0
  let outages: Outage[] = []
  const make = async (fails: boolean): Promise<Outage> => {
    const name = `outage-${made++}`
    const times = fails ? { timeoutSeconds: 3600, graceSeconds: 3600 } : PERIOD
    const check = await withRetries('a check to be added', () => addCheck(environment, projectId, { name, ...times }))
    const mail = mails[made % mails.length]
    await withRetries('the integrations of a check', () => notify(db, [check], mail ? [hook, mail] : [hook]))
    await traffic.untilAccepted(check.uuid)
    return { check, name, fails }
  }
  return {
    async begin(silent, failing) {
      outages = []
      for (let n = 0; n < silent + failing; n++) outages.push(await make(n >= silent))
    },
    async fail() {
      await Promise.all(
        outages.filter(({ fails }) => fails).map(({ check }) => traffic.untilAccepted(check.uuid, '/fail')),
      )
    },
    async end() {
      const found: string[] = []
      const settle = async (what: string, isSo: () => Promise<boolean>, withinMs: number) => {
        await eventually(what, isSo, withinMs).catch((error: unknown) => void found.push(String(error)))
      }
      const ids = outages.map(({ check }) => check.id)
      const areAll = async (status: string) =>
        (await db('checks').whereIn('id', ids).where({ status })).length === outages.length
      await settle('all checks to be down', () => areAll('down').catch(() => false), DOWN_MS)
      const missing = (...of: Status[]) => outages.flatMap((outage) => missingOf(outage, of, receivers))
      // Waits before the recovery, because a newer message supersedes one that is still retried.
      await settle('a notification of every outage', async () => missing('down').length === 0, NOTIFIED_MS)
      // A longer period prevents a second outage of a recovered check.
      await withRetries('the longer periods', async () =>
        db('checks').whereIn('id', ids).update({ timeout_seconds: 3600, grace_seconds: 3600 }),
      )
      for (const { check } of outages) await traffic.untilAccepted(check.uuid)
      await settle('all recovered checks to be up', () => areAll('up').catch(() => false), NOTIFIED_MS)
      await settle('a notification of every recovery', async () => missing('up').length === 0, NOTIFIED_MS)
      await settle(
        'no pending notification',
        async () => {
          const open = await db('notifications')
            .where({ state: 'pending' })
            .select('id')
            .catch(() => [1])
          return open.length === 0
        },
        NOTIFIED_MS,
      )
      found.push(...missing('down', 'up'))
      found.push(...(await withRetries('the flips', () => wrongFlips(db, outages))))
      const doubles = await withRetries('the messages', () => doublesOf(db, outages, receivers))
      return {
        expectedFlips: 3 * outages.length,
        expectedMessages: 4 * outages.length,
        found: [...found, ...doubles.found],
        repeated: doubles.repeated,
      }
    },
  }
}

function missingOf({ check, name }: Outage, statuses: readonly Status[], { notified }: Receivers): string[] {
  const { hooks, mails } = notified
  return statuses.flatMap((status) => [
    ...(hooks.has(`${status} ${check.uuid}`) ? [] : [`no webhook of ${name} being ${status}`]),
    ...(mails.has(`${status} ${name}`) ? [] : [`no mail of ${name} being ${status}`]),
  ])
}

/** Returns a line for each check whose flips are not exactly up, down, up. */
async function wrongFlips(db: Knex, outages: readonly Outage[]): Promise<string[]> {
  const wrong: string[] = []
  for (const { check, name } of outages) {
    const flips = await query<{ to: string }>(
      db,
      'SELECT to_status AS to FROM flips WHERE check_id = ? ORDER BY at, id',
      [check.id],
    )
    const changes = flips.map(({ to }) => to).join(' ')
    if (changes !== 'up down up') wrong.push(`${name} changed to ${changes}`)
  }
  return wrong
}

/** Counts duplicates. A message may be received once per attempt. */
async function doublesOf(db: Knex, outages: readonly Outage[], { notified }: Receivers) {
  const { hooks, mails } = notified
  const found: string[] = []
  let repeated = 0
  for (const { check, name } of outages) {
    const rows = await query<{ kind: string; status: string; attempts: number }>(
      db,
      `SELECT c.kind, n.check_status AS status, n.attempts FROM notifications n JOIN integrations c ON c.id = n.integration_id
       WHERE n.check_id = ?`,
      [check.id],
    )
    for (const { kind, status, attempts } of rows) {
      const times = (kind === 'email' ? mails.get(`${status} ${name}`) : hooks.get(`${status} ${check.uuid}`)) ?? 0
      if (times > attempts)
        found.push(`${kind} of ${name} being ${status}: received ${times} times in ${attempts} attempts`)
      else if (times > 1) repeated += times - 1
    }
    if (rows.length !== 4) found.push(`${name} has ${rows.length} notifications, not 4`)
  }
  return { found, repeated }
}
