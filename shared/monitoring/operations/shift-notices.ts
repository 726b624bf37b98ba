import type { Knex } from 'knex'
import { contactMessageDue } from '../../contracts/worker-messages.ts'
import type { Enqueue } from '../../platform/broker/outbox.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import { isUsable } from '../contacts/contact-method.ts'
import {
  type ContactRules,
  entriesFor,
  expandRules,
  type OnCallSettings,
  type UsableMethod,
} from '../contacts/contact-rules.ts'
import { ensureAccountMethods, listContactRows } from '../contacts/contact-store.ts'
import { findContactRules, findOnCallSettings } from '../contacts/rule-store.ts'
import {
  addressNotice,
  claimDueNotices,
  insertNotices,
  lockNoticeSchedule,
  lockUnaddressed,
  noticeTimes,
  openIncidentsOf,
  saveNoticeTimes,
  type UnaddressedNotice,
} from '../on-call/notice-store.ts'
import { nextChange, type Shift } from '../on-call/on-call.ts'
import { currentAndNext } from '../on-call/record.ts'
import { DAY_SECONDS } from '../on-call/schedule.ts'
import { findScheduleById, type StoredSchedule } from '../on-call/schedule-store.ts'
import { announcementText, dueNotices, noticeText, type ShiftNotice, shiftNotices } from '../on-call/shift-notices.ts'
import { coverageGaps, gapNotices } from '../on-call/warnings.ts'
import { contactMethodOf } from './contact-config.ts'
import { mailGaps } from './gap-mails.ts'
import { loadShifts } from './on-call-reads.ts'
import type { LoadedFacts } from './record-shifts.ts'

const DAY: Micros = microsOfSeconds(DAY_SECONDS)
/** A notice is at most a week before a shift, and quiet hours move it by at most a week. */
const COMPUTED: Micros = 15 * DAY
/** An edit may wait for the lock of its schedule, and then changes an earlier instant. */
const OVERLAP: Micros = microsOfSeconds(300)
const BATCH = 200

interface SendDeps {
  config: Config
  secrets: Secrets
}

export interface Announcement {
  schedule: StoredSchedule
  title: string
  text: string
}

/**
 * Creates the notices of one schedule that are due, and passes a change of the person on call to `announce`. One
 * transaction, so that each is created once. Returns false if no schedule is due.
 */
export async function createShiftNotices(
  tx: Knex,
  enqueue: Enqueue,
  deps: SendDeps,
  { now, announce }: { now: Micros; announce: (announcement: Announcement) => Promise<void> },
): Promise<boolean> {
  const id = await lockNoticeSchedule(tx, now)
  const schedule = id === null ? null : await findScheduleById(tx, id)
  if (!schedule) return false
  const { noticedUntil, announcedAt } = await noticeTimes(tx, schedule.id)
  const since = Math.min(noticedUntil, now) - OVERLAP
  const computedUntil = now + COMPUTED
  const [loaded] = await loadShifts(tx, [schedule], { from: since, until: computedUntil, now })
  if (!loaded) return false
  const { facts, shifts } = loaded
  const settings = await findOnCallSettings(tx, userIdsOf(facts, shifts))
  const settingsOf = (person: string) => settings.get(facts.people.get(person)?.userId ?? 0) ?? null
  const { due, nextAt } = dueNotices(shiftNotices(shifts, settingsOf, computedUntil), since, now)
  await storeNotices(tx, due, { facts, shifts, computedUntil })
  const changedAt = lastChange(shifts, now)
  if (changedAt !== null && changedAt !== announcedAt) {
    await announce({ schedule, title: `On call: ${schedule.name}`, text: announcementOf(facts, shifts, now) })
  }
  const gaps = gapNotices(coverageGaps(facts, now, computedUntil), now)
  await mailGaps(tx, enqueue, deps, { schedule, due: gaps.due })
  await saveNoticeTimes(tx, schedule.id, {
    noticedUntil: now,
    announcedAt: changedAt ?? announcedAt,
    nextAt: Math.min(nextAt ?? now + DAY, gaps.nextAt ?? now + DAY, now + DAY),
  })
  return true
}

function userIdsOf({ people }: LoadedFacts, shifts: readonly Shift[]): number[] {
  return [...new Set(shifts.flatMap(({ person }) => people.get(person)?.userId ?? []))]
}

async function storeNotices(
  tx: Knex,
  due: readonly ShiftNotice[],
  { facts, shifts, computedUntil }: { facts: LoadedFacts; shifts: readonly Shift[]; computedUntil: Micros },
): Promise<void> {
  const { schedule, people } = facts
  const incidents = due.some(({ kind }) => kind === 'start') ? await openIncidentsOf(tx, schedule) : []
  await insertNotices(
    tx,
    due.map((notice) => {
      const { shift, key, expiresAt } = notice
      const until = shift.until < computedUntil ? shift.until : nextChange(facts, shift.from)
      const next = nameOf(facts, shifts.find(({ from }) => from === shift.until)?.person ?? null)
      return {
        userId: people.get(shift.person)?.userId ?? 0,
        scheduleId: schedule.id,
        key,
        ...noticeText(notice, { schedule, until, next, incidents }),
        usesRules: false,
        ignoresQuiet: true,
        expiresAt,
      }
    }),
  )
}

/** Returns the last instant up to `now` at which another person came on call; null if none is known. */
function lastChange(shifts: readonly Shift[], now: Micros): Micros | null {
  const times = shifts.flatMap(({ from, until }) => [from, until]).filter((at) => at <= now)
  return times.length === 0 ? null : Math.max(...times)
}

function announcementOf(facts: LoadedFacts, shifts: readonly Shift[], now: Micros): string {
  const { current, next } = currentAndNext(shifts, now)
  const until = current === null ? (next?.from ?? null) : nextChange(facts, now)
  const names = { person: nameOf(facts, current?.person ?? null), next: nameOf(facts, next?.person ?? null) }
  return announcementText(facts.schedule, { ...names, until })
}

function nameOf({ people }: LoadedFacts, person: string | null): string | null {
  return person === null ? null : people.get(person)?.name || person
}

/** Chooses the contact methods of new notices and enqueues those that are due. */
export async function sendNotices(tx: Knex, enqueue: Enqueue, deps: SendDeps, now: Micros): Promise<void> {
  await addressNotices(tx, deps, now)
  for (const { id, methodId } of await claimDueNotices(tx, now, BATCH)) {
    if (methodId === null) continue
    const beginBy = now + OVERLAP
    const sealedText = deps.secrets.seal('contact', '')
    await enqueue(contactMessageDue, { messageId: id, methodId, what: 'notice', sealedText, beginBy })
  }
}

async function addressNotices(tx: Knex, { secrets, config }: SendDeps, now: Micros): Promise<void> {
  const notices = await lockUnaddressed(tx, BATCH)
  if (notices.length === 0) return
  const userIds = [...new Set(notices.map(({ userId }) => userId))]
  await ensureAccountMethods(tx, userIds)
  const rows = await listContactRows(tx, userIds)
  const rules = await findContactRules(tx, userIds)
  const settings = await findOnCallSettings(tx, userIds)
  const methods = rows.map((row) => contactMethodOf(row, secrets)).filter((method) => isUsable(method, config))
  for (const notice of notices) {
    const own = {
      methods: methods.filter(({ userId }) => userId === notice.userId),
      rules: rules.get(notice.userId) ?? { critical: [], other: [] },
      quiet: settings.get(notice.userId)?.quiet ?? [],
    }
    await addressNotice(tx, notice, entriesOf(notice, own, now))
  }
}

interface Own {
  methods: readonly UsableMethod[]
  rules: ContactRules
  quiet: OnCallSettings['quiet']
}

/** Shift notices respect quiet hours when they are created; others follow the person's rules. */
function entriesOf(
  { usesRules, ignoresQuiet }: UnaddressedNotice,
  { methods, rules, quiet }: Own,
  now: Micros,
): { method: string; dueAt: Micros }[] {
  const entries = entriesFor(rules, 'other', methods)
  if (!usesRules) return entries.slice(0, 1).map(({ method }) => ({ method, dueAt: now }))
  const expanded = expandRules({ entries, severity: 'info', quiet: ignoresQuiet ? [] : quiet, startAt: now })
  return expanded.filter(({ isJoined }) => !isJoined)
}
