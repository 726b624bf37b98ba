import type { Knex } from 'knex'
import { type Policy, policyFor } from '#shared/monitoring/alerting/policy.ts'
import { alertRulesOf, findRules, policiesOf } from '#shared/monitoring/alerting/policy-store.ts'
import { nameOf } from '#shared/monitoring/checks/slug.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { type AssignedCheck, listChecks } from '#shared/monitoring/checks/store.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { countChildren } from '#shared/monitoring/rules/parent-store.ts'
import { dependentsText, type ParentsMode } from '#shared/monitoring/rules/parents.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { type Micros, toSeconds } from '#shared/time.ts'
import { StatusGlyph } from '../../shell/icons.tsx'

export interface Relatives {
  /** dependencies, each with reasons why it may have no effect */
  parents: { check: AssignedCheck; warnings: string[] }[]
  mode: ParentsMode
  children: number
}

export async function loadRelatives(db: Knex, check: AssignedCheck, now: Micros): Promise<Relatives> {
  const [rules, [children = 0]] = await Promise.all([
    findRules(db, check.id),
    countChildren(db, [{ ...check, tags: splitTags(check.tags) }]),
  ])
  if (rules.parents.length === 0) return { parents: [], mode: rules.parents_mode, children }
  const uuids = new Set(rules.parents.flatMap((parent) => ('check' in parent ? [parent.check] : [])))
  const tags = rules.parents.flatMap((parent) => ('tag' in parent ? [parent.tag] : []))
  const found = (await listChecks(db, check.projectId)).filter(
    (one) => one.uuid !== check.uuid && (uuids.has(one.uuid) || splitTags(one.tags).some((tag) => tags.includes(tag))),
  )
  const policies = await policiesOf(db, [check.projectId])
  const theirs = new Map(
    (
      await alertRulesOf(
        db,
        found.map(({ id }) => id),
      )
    ).map((own) => [own.checkId, own]),
  )
  const own = detectionDelay(check, now)
  return {
    parents: found.map((parent) => {
      const policy = policyFor({ tags: parent.tags, policyId: theirs.get(parent.id)?.policyId ?? null }, policies)
      return {
        check: parent,
        warnings: [
          ...(notifiesReceivers(parent, policy) ? [] : ['sends no alerts']),
          ...(detectionDelay(parent, now) > own ? ['is noticed later than this check, which would alert first'] : []),
        ],
      }
    }),
    mode: rules.parents_mode,
    children,
  }
}

function notifiesReceivers({ integrationIds }: AssignedCheck, policy: Policy | null): boolean {
  if (!policy) return integrationIds.length > 0
  return policy.plan.steps.some(({ channels: integrations }) => (integrations ?? integrationIds).length > 0)
}

/** Returns seconds from one expected ping to the end of the next one's grace. */
function detectionDelay({ kind, timeoutSeconds, graceSeconds, schedule, tz }: AssignedCheck, now: Micros): number {
  if (kind === 'simple') return timeoutSeconds + graceSeconds
  const next = nextOccurrence(kind, schedule, tz, now)
  const after = next === null ? null : nextOccurrence(kind, schedule, tz, next)
  return graceSeconds + (next === null || after === null ? 0 : toSeconds(after - next))
}

/** Shown only if the check has dependencies or the user may add some. */
export function DependsOn(props: { relatives: Relatives; path: string; mayEdit: boolean; now: Micros }) {
  const { parents, mode, children } = props.relatives
  if (parents.length === 0 && children === 0 && !props.mayEdit) return null
  return (
    <section class="card" data-region="depends" aria-labelledby="depends">
      <h2 id="depends">Depends on</h2>
      {parents.length === 0 ? (
        <p class="muted">Nothing.</p>
      ) : (
        <>
          <ul class="bare">
            {parents.map(({ check, warnings }) => (
              <li key={check.uuid}>
                <StatusGlyph status={shownStatus(check, props.now, nextOccurrence)} />{' '}
                {props.mayEdit ? <a href={`/checks/${check.uuid}`}>{nameOf(check)}</a> : nameOf(check)}
                {warnings.map((warning) => (
                  <p class="hint" key={warning}>
                    Attention: it {warning}.
                  </p>
                ))}
              </li>
            ))}
          </ul>
          <p class="muted">
            While {mode === 'any' ? 'any of these is' : 'all of these are'} down, no alert is sent if this check is
            down.
          </p>
        </>
      )}
      {children > 0 && <p>{dependentsText(children)}</p>}
      {props.mayEdit && <a href={`${props.path}/rules`}>Change</a>}
    </section>
  )
}
