import type { Knex } from 'knex'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { query } from '#shared/platform/database/sql.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import { addMail, addWebhook, notify } from '../support/alerts.ts'
import { eventually } from '../support/eventually.ts'
import { openHttpSink } from '../support/http-sink.ts'
import { addCheck } from '../support/projects.ts'
import { openSmtpSink } from '../support/smtp-sink.ts'
import { persistently } from './persistently.ts'
import type { Traffic } from './traffic.ts'

/** Longest wait for a check that fell silent to be down, its deadline moved behind a gap of ours included. */
const DOWN_MS = 150_000
/** Longest wait for the expected notifications. */
const NOTIFIED_MS = 150_000
/** Of a check that will fall silent. */
const PERIOD = { timeoutSeconds: 8, graceSeconds: 2 }

/** Receivers of alerts, with the results. */
export interface Receivers extends AsyncDisposable {
  hookUrl: string
  mailUrl: string
  /** counts of each `down NAME` or `up NAME` that a webhook received, and a mail address */
  notified: { hooks: Map<string, number>; mails: Map<string, number> }
  /** Refuses all requests for now. */
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

interface Death {
  check: Check
  name: string
  /** reports its failure itself, instead of falling silent */
  fails: boolean
}

/** Results for the checks that died in one window. */
interface DeathsReport {
  /** changes that were to be seen, and messages that were to be sent */
  expectedFlips: number
  expectedMessages: number
  /** one line per flip or message that is missing or one too many */
  found: string[]
  /** messages that came again since an attempt of them had no recorded end, which at least once allows */
  repeated: number
}

export interface Undertaker {
  /** Makes checks that are well, and ping for the last time now. */
  begin(silent: number, failing: number): Promise<void>
  /** Makes the failing ones report their failure; retries until accepted. */
  fail(): Promise<void>
  /** Waits until all are down, pings them well again, and compares the notifications. */
  end(): Promise<DeathsReport>
}

interface Ground {
  db: Knex
  secrets: Secrets
  projectId: number
  traffic: Traffic
  receivers: Receivers
}

/** Makes checks die and recover, and knows the notifications that must follow. */
export async function openUndertaker(ground: Ground): Promise<Undertaker> {
  const { db, projectId, traffic, receivers } = ground
  const hook = await addWebhook(ground, projectId, receivers.hookUrl)
  // An address takes thirty mails a minute.
  const mails = await Promise.all([1, 2, 3, 4].map((n) => addMail(ground, projectId, `ops${n}@example.org`)))
  await db('integrations').where({ kind: 'email' }).update({ email_verified: true })
  let made = 0
  let deaths: Death[] = []
  const make = async (fails: boolean): Promise<Death> => {
    const name = `mortal-${made++}`
    const times = fails ? { timeoutSeconds: 3600, graceSeconds: 3600 } : PERIOD
    const check = await persistently('a check to be made', () => addCheck(ground, projectId, { name, ...times }))
    const mail = mails[made % mails.length]
    await persistently('its integrations', () => notify(db, [check], mail ? [hook, mail] : [hook]))
    await traffic.untilAccepted(check.uuid)
    return { check, name, fails }
  }
  return {
    async begin(silent, failing) {
      deaths = []
      for (let n = 0; n < silent + failing; n++) deaths.push(await make(n >= silent))
    },
    async fail() {
      await Promise.all(
        deaths.filter(({ fails }) => fails).map(({ check }) => traffic.untilAccepted(check.uuid, '/fail')),
      )
    },
    async end() {
      const found: string[] = []
      const settle = async (what: string, isSo: () => Promise<boolean>, withinMs: number) => {
        await eventually(what, isSo, withinMs).catch((error: unknown) => void found.push(String(error)))
      }
      const ids = deaths.map(({ check }) => check.id)
      const areAll = async (status: string) =>
        (await db('checks').whereIn('id', ids).where({ status })).length === deaths.length
      await settle('all dead checks to be down', () => areAll('down').catch(() => false), DOWN_MS)
      const missing = (...of: Status[]) => deaths.flatMap((death) => missingOf(death, of, receivers))
      // A message that is still retried when a newer one is sent is dropped, as it should be.
      await settle('every death to be notified', async () => missing('down').length === 0, NOTIFIED_MS)
      // Recovered checks stay: the comparison covers one death each.
      await persistently('the dead to be kept from dying again', async () =>
        db('checks').whereIn('id', ids).update({ timeout_seconds: 3600, grace_seconds: 3600 }),
      )
      for (const { check } of deaths) await traffic.untilAccepted(check.uuid)
      await settle('all recovered checks to be up', () => areAll('up').catch(() => false), NOTIFIED_MS)
      await settle('every recovery to be notified', async () => missing('up').length === 0, NOTIFIED_MS)
      await settle(
        'every message to have ended',
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
      found.push(...(await persistently('the changes of the dead', () => wrongFlips(db, deaths))))
      const doubles = await persistently('their messages', () => doublesOf(db, deaths, receivers))
      return {
        expectedFlips: 3 * deaths.length,
        expectedMessages: 4 * deaths.length,
        found: [...found, ...doubles.found],
        repeated: doubles.repeated,
      }
    },
  }
}

function missingOf({ check, name }: Death, statuses: readonly Status[], { notified }: Receivers): string[] {
  const { hooks, mails } = notified
  return statuses.flatMap((status) => [
    ...(hooks.has(`${status} ${check.uuid}`) ? [] : [`no webhook of ${name} being ${status}`]),
    ...(mails.has(`${status} ${name}`) ? [] : [`no mail of ${name} being ${status}`]),
  ])
}

/** Each came up, went down and came back: no more, no less. */
async function wrongFlips(db: Knex, deaths: readonly Death[]): Promise<string[]> {
  const wrong: string[] = []
  for (const { check, name } of deaths) {
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

/** Returns the duplicates: allowed for a message of which more than one attempt is known. */
async function doublesOf(db: Knex, deaths: readonly Death[], { notified }: Receivers) {
  const { hooks, mails } = notified
  const found: string[] = []
  let repeated = 0
  for (const { check, name } of deaths) {
    const rows = await query<{ kind: string; status: string; attempts: number }>(
      db,
      `SELECT c.kind, n.check_status AS status, n.attempts FROM notifications n JOIN integrations c ON c.id = n.integration_id
       WHERE n.check_id = ?`,
      [check.id],
    )
    for (const { kind, status, attempts } of rows) {
      const times = (kind === 'email' ? mails.get(`${status} ${name}`) : hooks.get(`${status} ${check.uuid}`)) ?? 0
      if (times > attempts)
        found.push(`${kind} of ${name} being ${status}: came ${times} times in ${attempts} attempts`)
      else if (times > 1) repeated += times - 1
    }
    if (rows.length !== 4) found.push(`${name} has ${rows.length} notifications, not 4`)
  }
  return { found, repeated }
}
