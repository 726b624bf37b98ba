import type { Knex } from 'knex'
import { NotFoundError, RateLimitedError } from '../../errors.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { createTurns } from '../../platform/process/turns.ts'
import { secondsUntilToken, takeTokens } from '../../tenancy/rate-limits/store.ts'
import { type Micros, microsOfDate, microsOfSeconds } from '../../time.ts'
import { isUuid } from '../../uuid.ts'
import { invalid, isGiven, readChoice, readList, readObject, readText, refuseUnknown } from '../alerting/fields.ts'
import type { FactChannel } from '../alerting/incident.ts'
import { policyFor } from '../alerting/policy.ts'
import { alertRulesOf, findPolicy, policiesOf } from '../alerting/policy-store.ts'
import { readPolicy } from '../alerting/read-policy.ts'
import { LONGEST_SIMULATION, type Simulated, Simulation } from '../alerting/simulation.ts'
import { findKind } from '../channels/kinds.ts'
import { listChannels } from '../channels/store.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import type { Signal } from '../checks/state-machine.ts'
import { type AssignedCheck, findCheck } from '../checks/store.ts'
import { splitTags } from '../checks/tags.ts'
import { listPings } from '../pings/store.ts'
import type { Project } from '../projects/store.ts'
import { readWindow } from '../windows/read-window.ts'
import type { Window } from '../windows/window.ts'
import { windowsOf } from '../windows/window-store.ts'
import { openConfig } from './integration-config.ts'
import { namedChannels } from './named-channels.ts'

const MEMBERS = ['check', 'policy', 'windows', 'events', 'recorded', 'from', 'until', 'api_key']
const MOST_EVENTS = 5_000
const MOST_WINDOWS = 100
const WEEK: Micros = microsOfSeconds(604_800)
const PER_MINUTE = 6
const INSTANT = /^[12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d(?:Z|[+-]\d\d:\d\d)$/
const KINDS = ['success', 'start', 'fail', 'log'] as const

/** What a simulation of a check came to; the integrations it names are the project's. */
export interface SimulatedCheck extends Simulated {
  check: AssignedCheck
  from: Micros
  until: Micros
}

/**
 * Plays what happened to a check, or what somebody thinks up, against the policy and windows in force or against drafts
 * (alerting 6). Stores and sends nothing.
 * @param input.isCounted false for the second half of a comparison, which is one question
 * @throws ValidationError with the first thing that is wrong, NotFoundError for a check or policy that the project does
 *   not have, RateLimitedError beyond six a minute
 */
export async function simulateCheck(
  db: Knex,
  input: { project: Pick<Project, 'id'>; body: JsonObject; now: Micros; isCounted?: boolean },
  { secrets }: { secrets: Secrets },
): Promise<SimulatedCheck> {
  const { project, body, now, isCounted = true } = input
  const uuid = readText(body.check, 'check', { max: 100 })
  const check = isUuid(uuid) ? await findCheck(db, uuid) : null
  if (check?.projectId !== project.id) throw new NotFoundError('')
  const policy = await policyOf(db, project.id, check, body.policy)
  const windows = await windowsFor(db, project.id, body.windows, now)
  const span = spanOf(body, now)
  const events = isGiven(body.events) ? eventsOf(body.events) : null
  if (isGiven(body.recorded)) {
    readChoice(body.recorded, 'recorded', ['pings'])
    if (events) throw invalid('recorded', 'has unexpected value')
  }
  refuseUnknown(body, '', MEMBERS)
  if (isCounted) await takeTurn(db, project.id)
  const signals = events ?? (await recordedPings(db, check.id))
  const [rules] = await alertRulesOf(db, [check.id])
  const simulation = new Simulation({
    check: { ...check, ...FRESH, tags: splitTags(check.tags) },
    signals: signals.toSorted((a, b) => a.at - b.at),
    policy,
    severity: rules?.severity ?? 'critical',
    channels: await channelsFor(db, project.id, check, secrets),
    windows,
    ...span,
  })
  const turns = createTurns()
  while (simulation.step()) await turns.rest()
  return { ...simulation.result, check, ...span }
}

/** Whatever state the check is in now, a simulation begins with a new one. */
const FRESH = {
  status: 'new',
  nPings: 0,
  lastPing: null,
  lastStart: null,
  lastStartRid: null,
  lastDuration: null,
  alertAfter: null,
  excusedAt: null,
} as const

/** The one in force, one of the project, a draft, or none. */
async function policyOf(db: Knex, projectId: number, check: AssignedCheck, given: JsonValue | undefined) {
  if (given === null) return null
  if (given === undefined) {
    const [rules] = await alertRulesOf(db, [check.id])
    const all = await policiesOf(db, [projectId])
    const inForce = policyFor({ tags: check.tags, policyId: rules?.policyId ?? null }, all)
    return inForce && { id: inForce.id, version: 1, plan: inForce.plan }
  }
  if (typeof given === 'string') {
    const policy = isUuid(given) ? await findPolicy(db, projectId, given) : null
    if (!policy) throw new NotFoundError('')
    return { id: policy.id, version: 1, plan: policy.plan }
  }
  const draft = { name: 'draft', ...readObject(given, 'policy') }
  return { id: 0, version: 1, plan: readPolicy(draft, null, await namedChannels(db, projectId)).plan }
}

async function windowsFor(db: Knex, projectId: number, given: JsonValue | undefined, now: Micros): Promise<Window[]> {
  if (!isGiven(given)) return await windowsOf(db, [projectId])
  return readList(given, 'windows', { max: MOST_WINDOWS }).map((item, index) => ({
    ...readWindow(readObject(item, `windows[${index}]`), null, now),
    uuid: '',
  }))
}

function spanOf(body: JsonObject, now: Micros): { from: Micros; until: Micros } {
  const until = isGiven(body.until) ? instantOf(body.until, 'until') : now
  const from = isGiven(body.from) ? instantOf(body.from, 'from') : until - WEEK
  if (from >= until) throw invalid('until', 'is too small')
  if (until - from > LONGEST_SIMULATION) throw invalid('until', 'is too large')
  return { from, until }
}

function eventsOf(given: JsonValue): Signal[] {
  return readList(given, 'events', { max: MOST_EVENTS }).map((item, index) => {
    const path = `events[${index}]`
    const event = readObject(item, path)
    const rid = isGiven(event.rid) ? readText(event.rid, `${path}.rid`, { max: 36 }) : null
    if (rid !== null && !isUuid(rid)) throw invalid(`${path}.rid`, 'has unexpected value')
    return { at: instantOf(event.at, `${path}.at`), kind: readChoice(event.kind, `${path}.kind`, KINDS), rid }
  })
}

function instantOf(value: JsonValue | undefined, path: string): Micros {
  const text = readText(value, path, { max: 40 })
  const date = new Date(INSTANT.test(text) ? text : Number.NaN)
  if (Number.isNaN(date.getTime())) throw invalid(path, 'has unexpected value')
  return microsOfDate(date)
}

async function recordedPings(db: Knex, checkId: number): Promise<Signal[]> {
  const pings = await listPings(db, checkId, 0, MOST_EVENTS)
  return pings.map(({ type, at, rid }) => ({ kind: type, at, rid }))
}

async function channelsFor(
  db: Knex,
  projectId: number,
  check: AssignedCheck,
  secrets: Secrets,
): Promise<FactChannel[]> {
  return (await listChannels(db, projectId)).map((channel) => {
    const config = openConfig(channel, secrets)
    const kind = findKind(channel.kind)
    return {
      id: channel.id,
      uuid: channel.uuid,
      isOwn: check.channelIds.includes(channel.uuid),
      isDisabled: channel.disabledAt !== null,
      ignores: { up: kind?.isNoop(config, 'up') ?? false, down: kind?.isNoop(config, 'down') ?? false },
      keepsRecord: false,
      isOverReserve: false,
    }
  })
}

async function takeTurn(db: Knex, projectId: number): Promise<void> {
  const share = 1 / 60
  const [grant] = await takeTokens(db, [{ bucket: `simulation:${projectId}`, wanted: 1, capacity: PER_MINUTE }], share)
  if (grant && grant.granted > 0) return
  const seconds = secondsUntilToken(grant?.left ?? 0, PER_MINUTE, share)
  throw new RateLimitedError('There were six simulations within a minute.', seconds)
}
