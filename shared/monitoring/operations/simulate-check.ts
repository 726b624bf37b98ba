import type { Knex } from 'knex'
import { shardOf } from '../../contracts/ping-batch.ts'
import { type PingGeneration, shardsNow } from '../../contracts/ping-generations.ts'
import { NotFoundError } from '../../errors.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { createTimeSlices } from '../../platform/process/time-slices.ts'
import { takeToken } from '../../tenancy/operations/link-mails.ts'
import { type Micros, microsOfSeconds } from '../../time.ts'
import { isUuid } from '../../uuid.ts'
import { invalid, isPresent, readList, readObject, refuseUnknown } from '../alerting/fields.ts'
import { IMPLICIT_PLAN, type Policy, policyFor } from '../alerting/policy.ts'
import { findPolicy, policiesOf } from '../alerting/policy-store.ts'
import { readPolicy } from '../alerting/read-policy.ts'
import { gapsSince } from '../availability/gap-store.ts'
import type { JsonObject, JsonValue } from '../checks/json-body.ts'
import { hasAllTags, splitTags } from '../checks/tags.ts'
import { findKind } from '../integrations/kinds.ts'
import { keepsRecord, takesDigests } from '../integrations/shown-config.ts'
import { listIntegrations } from '../integrations/store.ts'
import { readWindow } from '../maintenance/read-window.ts'
import type { Window } from '../maintenance/window.ts'
import { windowsOf } from '../maintenance/window-store.ts'
import { listFlipsOfChecks } from '../pages/status-history-store.ts'
import { notifiesUnknown } from '../projects/changes-store.ts'
import type { Project } from '../projects/store.ts'
import { findManagers } from '../reports/report-store.ts'
import type { Outage } from '../simulation/check-group.ts'
import { ParentHistory } from '../simulation/parent-history.ts'
import { nodesAbove, outagesBeside, refusalsOf } from '../simulation/recording-store.ts'
import { assumptionsOf, type Simulated } from '../simulation/simulated.ts'
import { MAX_SIMULATION, type SimulatedIntegration, Simulation } from '../simulation/simulation.ts'
import { decryptConfig } from './integration-config.ts'
import { stepNames } from './policies.ts'
import type { ReachDeps } from './reachable.ts'
import {
  type CheckToSimulate,
  freshCheck,
  freshRuling,
  readInstant,
  readSimulatedCheck,
  readSimulationRequest,
  recordingOf,
} from './simulated-check.ts'
import { loadSimulatedPeople, readScheduleDrafts } from './simulated-schedules.ts'

const MEMBERS = [
  ...['check', 'settings', 'rules', 'policy', 'windows', 'schedules', 'events', 'recorded', 'from', 'until'],
  'api_key',
]
const MAX_WINDOWS = 100
const WEEK: Micros = microsOfSeconds(604_800)
const PER_MINUTE = 6

export interface SimulatedCheck extends Simulated {
  check: Pick<CheckToSimulate, 'uuid' | 'name'>
  from: Micros
  until: Micros
  assumed: string[]
}

interface Deps extends ReachDeps {
  installation: { generations(): readonly PingGeneration[] }
}

/**
 * Uses recorded or invented pings and current or drafted rules (docs/spec/alerting.md#decisions). Other checks and
 * coverage gaps are taken from the record. Stores and sends nothing. `isCounted` is false for the second run of a
 * comparison. @throws ValidationError for the first invalid member, NotFoundError for a check or policy of another
 * project, RateLimitedError beyond six a minute
 */
export async function simulateCheck(
  db: Knex,
  input: { project: Pick<Project, 'id' | 'organisationId'>; body: JsonObject; now: Micros; isCounted?: boolean },
  deps: Deps,
): Promise<SimulatedCheck> {
  const { project, body, now, isCounted = true } = input
  const check = await readSimulatedCheck(db, project.id, body)
  const policy = await policyOf(db, project, check, body.policy)
  const windows = await windowsFor(db, project.id, body.windows, now)
  const drafts = await readScheduleDrafts(db, project, body.schedules)
  const span = spanOf(body, now)
  const requested = readSimulationRequest(body, check)
  refuseUnknown(body, '', MEMBERS)
  if (isCounted) {
    await takeToken(db, `simulation:${project.id}`, PER_MINUTE, 'Only six simulations per minute are allowed.')
  }
  const { sources } = check.rules
  const isRecorded = requested.kind !== 'events' && check.id !== null
  const played =
    requested.kind === 'events'
      ? requested.events
      : await recordingOf(db, check.id ?? 0, { kind: requested.kind, sources })
  const first = Math.min(span.from, played[0]?.at ?? span.from)
  const plan = policy?.plan ?? null
  const simulation = new Simulation({
    check: { ...freshCheck(check), uuid: check.uuid, tags: splitTags(check.tags) },
    played,
    ruleState: freshRuling(check),
    gaps: isRecorded ? await gapsSince(db, first) : [],
    refusals: isRecorded ? await refusalsOf(db, check.id ?? 0) : [],
    shard: 1n << BigInt(shardOf(check.id ?? 0, shardsNow(deps.installation.generations()))),
    policy: policy && { id: policy.id, version: 1, plan: policy.plan },
    severity: check.rules.severity,
    integrations: await integrationsFor(db, project.id, check, deps.secrets),
    people: await loadSimulatedPeople(db, { project, plan, drafts, from: first, until: span.until, now }, deps),
    managers: deps.config.smtpUrl === undefined ? [] : (await findManagers(db, project.id)).map(({ email }) => email),
    windows,
    parents: await parentsOf(db, project.id, check),
    otherOutages: await groupOf(db, { projectId: project.id, checkId: check.id ?? 0, since: span.from - WEEK }, policy),
    notifiesUnknown: await notifiesUnknown(db, project.id),
    ...span,
  })
  const slices = createTimeSlices()
  while (simulation.step()) await slices.yieldIfNeeded()
  const result = simulation.result()
  return { ...result, assumed: assumptionsOf(result, plan), check, ...span }
}

interface PlayedPolicy extends Pick<Policy, 'id' | 'plan'> {
  isAbout(check: { tags: string; policyId: number | null }): boolean
}

/** undefined: the current policy; null: none; a uuid; or a draft */
async function policyOf(
  db: Knex,
  project: Pick<Project, 'id' | 'organisationId'>,
  { tags, rules }: CheckToSimulate,
  requested: JsonValue | undefined,
): Promise<PlayedPolicy | null> {
  if (requested === null) return null
  const { id: projectId } = project
  const all = await policiesOf(db, [projectId])
  const applying = (policy: Policy): PlayedPolicy => ({
    ...policy,
    isAbout: (check) => policyFor(check, all)?.id === policy.id,
  })
  const named = rules.policy === null ? null : await requirePolicy(db, projectId, rules.policy)
  const inForce = policyFor({ tags, policyId: named?.id ?? null }, all)
  if (requested === undefined) return inForce && applying(inForce)
  if (typeof requested === 'string') return applying(await requirePolicy(db, projectId, requested))
  const draft = { name: 'draft', ...readObject(requested, 'policy') }
  const { plan, match } = readPolicy(draft, null, await stepNames(db, project))
  const wanted = splitTags(match)
  return {
    id: 0,
    plan,
    // A draft without `match` applies to the same checks as the current policy.
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

async function windowsFor(db: Knex, projectId: number, drafts: JsonValue | undefined, now: Micros): Promise<Window[]> {
  if (!isPresent(drafts)) return await windowsOf(db, [projectId])
  return readList(drafts, 'windows', { max: MAX_WINDOWS }).map((item, index) => ({
    ...readWindow(readObject(item, `windows[${index}]`), null, now),
    uuid: '',
  }))
}

function spanOf(body: JsonObject, now: Micros): { from: Micros; until: Micros } {
  const until = isPresent(body.until) ? readInstant(body.until, 'until') : now
  const from = isPresent(body.from) ? readInstant(body.from, 'from') : until - WEEK
  if (from >= until) throw invalid('until', 'must be after from')
  if (until - from > MAX_SIMULATION) throw invalid('until', 'must be at most 93 days after from')
  return { from, until }
}

async function parentsOf(
  db: Knex,
  projectId: number,
  { uuid, name, tags, rules }: CheckToSimulate,
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

async function groupOf(
  db: Knex,
  requested: { projectId: number; checkId: number; since: Micros },
  policy: PlayedPolicy | null,
): Promise<Outage[]> {
  if ((policy?.plan ?? IMPLICIT_PLAN).group.within === 0) return []
  return (await outagesBeside(db, requested)).filter((outage) => policy?.isAbout(outage))
}

async function integrationsFor(
  db: Knex,
  projectId: number,
  { integrationIds }: CheckToSimulate,
  secrets: Secrets,
): Promise<SimulatedIntegration[]> {
  return (await listIntegrations(db, projectId)).map((integration) => {
    const config = decryptConfig(integration, secrets)
    const kind = findKind(integration.kind)
    return {
      id: integration.id,
      uuid: integration.uuid,
      isOwn: integrationIds.includes(integration.uuid),
      isDisabled: integration.disabledAt !== null,
      ignores: { up: kind?.isNoop(config, 'up') ?? false, down: kind?.isNoop(config, 'down') ?? false },
      keepsRecord: keepsRecord(integration.kind),
      isReader: takesDigests(integration.kind, config),
      isOverReserve: false,
    }
  })
}
