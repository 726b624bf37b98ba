import type { Knex } from 'knex'
import { shardOf } from '../../contracts/ping-batch.ts'
import { type PingGeneration, shardsNow } from '../../contracts/ping-generations.ts'
import { NotFoundError } from '../../errors.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { createTurns } from '../../platform/process/turns.ts'
import { takeTurn } from '../../tenancy/operations/take-turn.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import { isUuid } from '../../uuid.ts'
import { invalid, isGiven, readList, readObject, refuseUnknown } from '../alerting/fields.ts'
import { IMPLICIT_PLAN, type Policy, policyFor } from '../alerting/policy.ts'
import { findPolicy, policiesOf } from '../alerting/policy-store.ts'
import { readPolicy } from '../alerting/read-policy.ts'
import { findKind } from '../channels/kinds.ts'
import { keepsRecord, takesDigests } from '../channels/readers.ts'
import { listChannels } from '../channels/store.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { hasAllTags, splitTags } from '../checks/tags.ts'
import { gapsSince } from '../gaps/gap-store.ts'
import { listFlipsOfChecks } from '../pages/status-history-store.ts'
import { tellsUnknown } from '../projects/changes-store.ts'
import type { Project } from '../projects/store.ts'
import type { Outage } from '../simulation/crowd.ts'
import { ParentHistory } from '../simulation/parent-history.ts'
import { nodesAbove, outagesBeside, refusalsOf } from '../simulation/recording-store.ts'
import { assumptionsOf, type Simulated } from '../simulation/simulated.ts'
import { LONGEST_SIMULATION, type SimulatedChannel, Simulation } from '../simulation/simulation.ts'
import { readWindow } from '../windows/read-window.ts'
import type { Window } from '../windows/window.ts'
import { windowsOf } from '../windows/window-store.ts'
import { openConfig } from './integration-config.ts'
import { namedChannels } from './named-channels.ts'
import { readAsked, readInstant, recordingOf } from './played-signals.ts'
import { type AskedCheck, freshCheck, freshRuling, readAskedCheck } from './simulated-check.ts'

const MEMBERS = ['check', 'settings', 'rules', 'policy', 'windows', 'events', 'recorded', 'from', 'until', 'api_key']
const MOST_WINDOWS = 100
const WEEK: Micros = microsOfSeconds(604_800)
const PER_MINUTE = 6

/** What a simulation of a check came to; the integrations it names are the project's. */
export interface SimulatedCheck extends Simulated {
  check: Pick<AskedCheck, 'uuid' | 'name'>
  from: Micros
  until: Micros
  /** what is taken for granted, in sentences */
  assumed: string[]
}

interface Deps {
  secrets: Secrets
  installation: { generations(): readonly PingGeneration[] }
}

/**
 * Plays what happened to a check, or what somebody thinks up, against the policy, rules and windows in force or against
 * drafts (alerting 6). Other checks and gaps of ours are what was recorded of them. Stores and sends nothing.
 * @param input.isCounted false for the second half of a comparison, which is one question
 * @throws ValidationError with the first thing that is wrong, NotFoundError for a check or policy that the project does
 *   not have, RateLimitedError beyond six a minute
 */
export async function simulateCheck(
  db: Knex,
  input: { project: Pick<Project, 'id'>; body: JsonObject; now: Micros; isCounted?: boolean },
  { secrets, installation }: Deps,
): Promise<SimulatedCheck> {
  const { project, body, now, isCounted = true } = input
  const check = await readAskedCheck(db, project.id, body)
  const policy = await policyOf(db, project.id, check, body.policy)
  const windows = await windowsFor(db, project.id, body.windows, now)
  const span = spanOf(body, now)
  const asked = readAsked(body)
  refuseUnknown(body, '', MEMBERS)
  if (isCounted) {
    await takeTurn(db, `simulation:${project.id}`, PER_MINUTE, 'There were six simulations within a minute.')
  }
  const { sources } = check.rules
  const isRecorded = asked.kind !== 'events' && check.id !== null
  const played =
    asked.kind === 'events' ? asked.events : await recordingOf(db, check.id ?? 0, { kind: asked.kind, sources })
  const simulation = new Simulation({
    check: { ...freshCheck(check), uuid: check.uuid, tags: splitTags(check.tags) },
    played,
    ruled: freshRuling(check),
    gaps: isRecorded ? await gapsSince(db, Math.min(span.from, played[0]?.at ?? span.from)) : [],
    refusals: isRecorded ? await refusalsOf(db, check.id ?? 0) : [],
    shard: 1n << BigInt(shardOf(check.id ?? 0, shardsNow(installation.generations()))),
    policy: policy && { id: policy.id, version: 1, plan: policy.plan },
    severity: check.rules.severity,
    channels: await channelsFor(db, project.id, check, secrets),
    windows,
    parents: await parentsOf(db, project.id, check),
    crowd: await crowdOf(db, { projectId: project.id, checkId: check.id ?? 0, since: span.from - WEEK }, policy),
    tellsUnknown: await tellsUnknown(db, project.id),
    ...span,
  })
  const turns = createTurns()
  while (simulation.step()) await turns.rest()
  const result = simulation.result()
  return { ...result, assumed: assumptionsOf(result, policy?.plan ?? null), check, ...span }
}

/** A policy to play with, and to which checks it applies. */
interface PlayedPolicy extends Pick<Policy, 'id' | 'plan'> {
  isAbout(check: { tags: string; policyId: number | null }): boolean
}

/** The one in force, one of the project, a draft, or none. */
async function policyOf(
  db: Knex,
  projectId: number,
  { tags, rules }: AskedCheck,
  given: JsonValue | undefined,
): Promise<PlayedPolicy | null> {
  if (given === null) return null
  const all = await policiesOf(db, [projectId])
  const applying = (policy: Policy): PlayedPolicy => ({
    ...policy,
    isAbout: (check) => policyFor(check, all)?.id === policy.id,
  })
  const named = rules.policy === null ? null : await requirePolicy(db, projectId, rules.policy)
  const inForce = policyFor({ tags, policyId: named?.id ?? null }, all)
  if (given === undefined) return inForce && applying(inForce)
  if (typeof given === 'string') return applying(await requirePolicy(db, projectId, given))
  const draft = { name: 'draft', ...readObject(given, 'policy') }
  const { plan, match } = readPolicy(draft, null, await namedChannels(db, projectId))
  const wanted = splitTags(match)
  return {
    id: 0,
    plan,
    // A draft that says nothing of it is one of the policy in force.
    isAbout: (check) =>
      match.trim() === '*' ||
      (wanted.length > 0 ? hasAllTags(check.tags, wanted) : inForce !== null && policyFor(check, all) === inForce),
  }
}

async function requirePolicy(db: Knex, projectId: number, uuid: string): Promise<Policy> {
  const policy = isUuid(uuid) ? await findPolicy(db, projectId, uuid) : null
  if (!policy) throw new NotFoundError('')
  return policy
}

async function windowsFor(db: Knex, projectId: number, given: JsonValue | undefined, now: Micros): Promise<Window[]> {
  if (!isGiven(given)) return await windowsOf(db, [projectId])
  return readList(given, 'windows', { max: MOST_WINDOWS }).map((item, index) => ({
    ...readWindow(readObject(item, `windows[${index}]`), null, now),
    uuid: '',
  }))
}

function spanOf(body: JsonObject, now: Micros): { from: Micros; until: Micros } {
  const until = isGiven(body.until) ? readInstant(body.until, 'until') : now
  const from = isGiven(body.from) ? readInstant(body.from, 'from') : until - WEEK
  if (from >= until) throw invalid('until', 'is too small')
  if (until - from > LONGEST_SIMULATION) throw invalid('until', 'is too large')
  return { from, until }
}

/** What became of the checks that one depends on; null when it depends on none. */
async function parentsOf(
  db: Knex,
  projectId: number,
  { uuid, name, tags, rules }: AskedCheck,
): Promise<ParentHistory | null> {
  if (rules.parents.length === 0) return null
  const above = await nodesAbove(db, projectId, { uuid, parents: rules.parents })
  const flips = await listFlipsOfChecks(
    db,
    above.map(({ id }) => id),
  )
  return new ParentHistory(
    { uuid, name, tags: splitTags(tags), parents: rules.parents, mode: rules.parents_mode },
    above.map((node) => ({ ...node, tags: splitTags(node.tags), flips: flips.get(node.id) ?? [] })),
  )
}

/** When the other checks were down that a digest may tell of with this one. */
async function crowdOf(
  db: Knex,
  asked: { projectId: number; checkId: number; since: Micros },
  policy: PlayedPolicy | null,
): Promise<Outage[]> {
  if ((policy?.plan ?? IMPLICIT_PLAN).group.within === 0) return []
  return (await outagesBeside(db, asked)).filter((outage) => policy?.isAbout(outage))
}

async function channelsFor(
  db: Knex,
  projectId: number,
  { channelIds }: AskedCheck,
  secrets: Secrets,
): Promise<SimulatedChannel[]> {
  return (await listChannels(db, projectId)).map((channel) => {
    const config = openConfig(channel, secrets)
    const kind = findKind(channel.kind)
    return {
      id: channel.id,
      uuid: channel.uuid,
      isOwn: channelIds.includes(channel.uuid),
      isDisabled: channel.disabledAt !== null,
      ignores: { up: kind?.isNoop(config, 'up') ?? false, down: kind?.isNoop(config, 'down') ?? false },
      keepsRecord: keepsRecord(channel.kind),
      isReader: takesDigests(channel.kind, config),
      isOverReserve: false,
    }
  })
}
