import { randomUUID } from 'node:crypto'
import type { Knex } from 'knex'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { queueWrittenMail } from '../../tenancy/operations/link-mails.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import type { WindowTime } from '../maintenance/window.ts'
import { claimShiftChange, insertShiftChange } from '../on-call/change-store.ts'
import { changesOf } from '../on-call/changes.ts'
import { type Shift, shifts } from '../on-call/on-call.ts'
import { DAY_SECONDS } from '../on-call/schedule.ts'
import { findScheduleById } from '../on-call/schedule-store.ts'
import { changeMail } from '../on-call/shift-mails.ts'
import { type LoadedFacts, loadOnCallFacts } from './record-shifts.ts'

const REPORTED: Micros = microsOfSeconds(30 * DAY_SECONDS)
/** Several edits make one mail. */
const DELAY: Micros = microsOfSeconds(600)

/** Stores the people whose shifts an edit changes, except those who know of it. `before` null: a new schedule. */
export async function noteShiftChanges(
  tx: Knex,
  before: LoadedFacts | null,
  after: LoadedFacts,
  { now, known }: { now: Micros; known: readonly string[] },
): Promise<void> {
  const until = now + REPORTED
  const was = before ? shifts(before, now, until) : []
  for (const { person } of changesOf(was, shifts(after, now, until))) {
    const userId = (after.people.get(person) ?? before?.people.get(person))?.userId
    if (userId === undefined || known.includes(person)) continue
    const own = was.filter((shift) => shift.person === person)
    const change = { scheduleId: after.schedule.id, userId, before: own.map(timeOf), until }
    await insertShiftChange(tx, change, now + DELAY)
  }
}

function timeOf({ from, until }: WindowTime): WindowTime {
  return { from, until }
}

interface MailDeps {
  config: Pick<Config, 'publicUrl' | 'siteName' | 'smtpUrl'>
  secrets: Secrets
}

/** Sends one mail, unless the person's shifts are as before. Returns false if none is due. */
export async function sendChangeMail(tx: Knex, enqueue: Enqueue, deps: MailDeps, now: Micros): Promise<boolean> {
  const change = await claimShiftChange(tx, now)
  if (!change) return false
  const schedule = await findScheduleById(tx, change.scheduleId)
  const [facts] = schedule ? await loadOnCallFacts(tx, [schedule], now) : []
  const person = [...(facts?.people.values() ?? [])].find(({ userId }) => userId === change.userId)
  const { publicUrl, siteName, smtpUrl } = deps.config
  if (!facts || !person || smtpUrl === undefined) return true
  const before = change.before
    .filter(({ until }) => until > now)
    .map(({ from, until }): Shift => ({ person: person.email, source: 'none', from: Math.max(from, now), until }))
  const after = shifts(facts, now, change.until).filter((shift) => shift.person === person.email)
  const [difference] = changesOf(before, after)
  if (!difference) return true
  const mail = changeMail(facts.schedule, difference, { to: person.email, publicUrl, siteName })
  await queueWrittenMail(tx, enqueue, deps, { id: randomUUID(), ...mail })
  return true
}

/** Sends the mails about the deletion of a schedule, because its rows of pending mails are deleted with it. */
export async function mailDeletedShifts(
  tx: Knex,
  enqueue: Enqueue,
  deps: MailDeps,
  { facts, now, known }: { facts: LoadedFacts; now: Micros; known: readonly string[] },
): Promise<void> {
  const { publicUrl, siteName, smtpUrl } = deps.config
  if (smtpUrl === undefined) return
  for (const change of changesOf(shifts(facts, now, now + REPORTED), [])) {
    const { person } = change
    if (known.includes(person)) continue
    const mail = changeMail(facts.schedule, change, { to: person, publicUrl, siteName }, true)
    await queueWrittenMail(tx, enqueue, deps, { id: randomUUID(), ...mail })
  }
}
