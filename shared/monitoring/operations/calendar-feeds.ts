import { randomBytes } from 'node:crypto'
import type { Knex } from 'knex'
import { ForbiddenError, NotFoundError } from '../../errors.ts'
import { transaction } from '../../platform/database/db.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { insertActorAudit } from '../../tenancy/accounts/audit-store.ts'
import { findUser, listMemberships } from '../../tenancy/accounts/store.ts'
import type { Actor } from '../../tenancy/actor.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import { type CalendarEvent, calendarText } from '../on-call/calendar.ts'
import {
  type CalendarFeed,
  deleteFeed,
  deleteFeedOfPerson,
  feedsOf,
  findFeed,
  findFeedByDigest,
  insertFeed,
} from '../on-call/feed-store.ts'
import { DAY_SECONDS } from '../on-call/schedule.ts'
import {
  findSchedule,
  findScheduleById,
  listAllSchedules,
  lockSchedule,
  type StoredSchedule,
} from '../on-call/schedule-store.ts'
import type { Project } from '../projects/store.ts'
import { auditContact } from './contact-config.ts'
import { loadShifts } from './on-call-reads.ts'

export const MAX_FEEDS = 20
const DAY: Micros = microsOfSeconds(DAY_SECONDS)
const OWN_SHIFTS = 'own shifts'
const DAYS_BACK = 30
const DAYS_AHEAD = 180

type Owner = Pick<Project, 'id' | 'organisationId'>

interface CreatedFeed {
  feed: CalendarFeed
  /** shown once: only its digest is stored */
  token: string
}

/** @throws NotFoundError, ForbiddenError beyond MAX_FEEDS */
export async function createScheduleFeed(
  db: Knex,
  actor: Actor,
  input: { project: Owner; uuid: string; name: string; by: string; secrets: Secrets },
): Promise<CreatedFeed> {
  const { project, uuid, name, by, secrets } = input
  return await transaction(db, async (tx) => {
    const found = await findSchedule(tx, project.id, uuid)
    const schedule = found && (await lockSchedule(tx, found.id))
    if (!schedule) throw new NotFoundError('')
    if ((await feedsOf(tx, schedule.id)).length >= MAX_FEEDS)
      throw new ForbiddenError(`The schedule has reached its limit of ${MAX_FEEDS} calendar addresses.`)
    const token = newToken()
    const digest = secrets.digest(digested(token))
    const feed = await insertFeed(tx, { digest, scheduleId: schedule.id, userId: null, name, createdBy: by })
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'feed.created', target: schedule.name })
    return { feed, token }
  })
}

/** The former address of the feed ends. */
export async function createPersonalFeed(
  db: Knex,
  actor: Actor,
  { userId, secrets }: { userId: number; secrets: Secrets },
): Promise<CreatedFeed> {
  return await transaction(db, async (tx) => {
    const token = newToken()
    const digest = secrets.digest(digested(token))
    const feed = await insertFeed(tx, { digest, scheduleId: null, userId, name: '', createdBy: '' })
    await auditContact(tx, actor, { userId, action: 'feed.created', target: OWN_SHIFTS })
    return { feed, token }
  })
}

/** @throws NotFoundError */
export async function revokeFeed(
  db: Knex,
  actor: Actor,
  { project, uuid }: { project: Owner; uuid: string },
): Promise<CalendarFeed> {
  return await transaction(db, async (tx) => {
    const feed = await findFeed(tx, project.id, uuid)
    if (!feed || !(await deleteFeed(tx, feed.id))) throw new NotFoundError('')
    const { organisationId } = project
    await insertActorAudit(tx, actor, { organisationId, action: 'feed.revoked', target: feed.name })
    return feed
  })
}

/** Ends the feed of a person, if one exists. */
export async function revokePersonalFeed(db: Knex, actor: Actor, userId: number): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await deleteFeedOfPerson(tx, userId))) return
    await auditContact(tx, actor, { userId, action: 'feed.revoked', target: OWN_SHIFTS })
  })
}

/** Returns the document of a feed; null if the token is unknown or revoked. */
export async function loadCalendar(
  db: Knex,
  token: string,
  { secrets, publicUrl, now }: { secrets: Secrets; publicUrl: string; now: Micros },
): Promise<string | null> {
  const feed = await findFeedByDigest(db, secrets.digests(digested(token)))
  if (!feed) return null
  const { schedules, email } = await schedulesOf(db, feed)
  // Whole days, so that two reads on one day give the same bytes.
  const today = Math.floor(now / DAY) * DAY
  const span = { from: today - DAYS_BACK * DAY, until: today + DAYS_AHEAD * DAY, now }
  const events = (await loadShifts(db, schedules, span)).flatMap(({ facts, shifts }): CalendarEvent[] => {
    const { uuid, name, projectUuid, changedAt } = facts.schedule
    return shifts
      .filter(({ person }) => email === null || person === email)
      .map(({ person, from, until }) => ({
        schedule: uuid,
        person: facts.people.get(person)?.userUuid ?? person,
        from,
        until,
        summary: email === null ? `${facts.people.get(person)?.name || person}: ${name}` : `On call: ${name}`,
        url: `${publicUrl}/projects/${projectUuid}/on-call/${uuid}`,
        changedAt,
      }))
  })
  const name = email === null ? (schedules[0]?.name ?? '') : 'On call'
  events.sort((a, b) => a.from - b.from)
  return calendarText(name, URL.parse(publicUrl)?.hostname || 'localhost', events)
}

async function schedulesOf(
  db: Knex,
  feed: CalendarFeed,
): Promise<{ schedules: StoredSchedule[]; email: string | null }> {
  if (feed.scheduleId !== null) {
    const schedule = await findScheduleById(db, feed.scheduleId)
    return { schedules: schedule ? [schedule] : [], email: null }
  }
  const userId = feed.userId ?? 0
  const [user, memberships] = await Promise.all([findUser(db, userId), listMemberships(db, userId)])
  const organisations = memberships.map(({ organisationId }) => organisationId)
  return { schedules: await listAllSchedules(db, organisations), email: user?.email ?? '' }
}

function newToken(): string {
  return randomBytes(32).toString('base64url')
}

function digested(token: string): string {
  return `calendar-feed:${token}`
}
