import { checkBadgeUrls } from '#shared/monitoring/badges/signature.ts'
import type { Check } from '#shared/monitoring/checks/check.ts'
import { nameOf } from '#shared/monitoring/checks/slug.ts'
import { downtimeByMonth } from '#shared/monitoring/flips/downtime.ts'
import type { StoredIntegration } from '#shared/monitoring/integrations/store.ts'
import { uncounted } from '#shared/monitoring/maintenance/uptime.ts'
import type { CheckFlip } from '#shared/monitoring/pages/status-history-store.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import type { Micros } from '#shared/time.ts'
import { ButtonForm, Form } from '../../forms/form.tsx'
import type { Context } from '../../shell/context.ts'
import { type CheckWorkspace, checkPath } from '../../shell/workspace.ts'
import { BadgeForms, BadgeImage } from '../badge-forms.tsx'
import { type AlertPolicy, AlertPolicyCard } from './alert-policy-card.tsx'
import { DependsOn, type Relatives } from './depends-on.tsx'
import { DowntimeTable, FilterRules, ScheduleFacts, UsedIntegrations } from './facts.tsx'
import type { Maintenance } from './maintenance.tsx'
import type { UnknownTime } from './unknown-periods.tsx'
import { UptimeProofs } from './uptime-proof.tsx'

const MONTHS = 3

interface SideFacts {
  flips: readonly CheckFlip[]
  integrations: readonly StoredIntegration[]
  alertPolicy: AlertPolicy
  maintenance: Maintenance
  relatives: Relatives
  stated: string | null
  unknown: UnknownTime
  since: Micros | null
}

export function Side(props: { context: Context; workspace: CheckWorkspace; facts: SideFacts; now: Micros }) {
  const { context, workspace, now } = props
  const { flips, integrations, alertPolicy, maintenance, relatives, stated, unknown, since } = props.facts
  const { check, project } = workspace
  const path = checkPath(check, project)
  const mayEdit = may(project.role, 'edit')
  return (
    <div class="check-side">
      <DowntimeTable
        months={downtimeByMonth(flips, MONTHS, now, maintenance.excluded)}
        since={since}
        excluded={uncounted(maintenance.excluded, unknown.spans, flips)}
      />
      <ScheduleFacts check={check} now={now} />
      <UsedIntegrations
        check={check}
        integrations={integrations}
        editPath={mayEdit ? `${path}/edit#integrations` : null}
        policy={alertPolicy.policy}
      />
      <AlertPolicyCard alertPolicy={alertPolicy} integrations={integrations} now={now} path={mayEdit ? path : null} />
      <DependsOn relatives={relatives} path={path} mayEdit={mayEdit} now={now} />
      <FilterRules check={check} />
      <CheckBadge check={check} base={context.deps.config.publicUrl} />
      <UptimeProofs since={stated} path={path} now={now} />
      {mayEdit && <MoreActions context={context} workspace={workspace} />}
    </div>
  )
}

function CheckBadge({ check, base }: { check: Pick<Check, 'name' | 'uuid' | 'badgeKey'>; base: string }) {
  const badge = { urls: checkBadgeUrls(base, check.badgeKey), name: check.name || 'check' }
  return (
    <section class="card badge-card" aria-labelledby="badge">
      <h2 id="badge">Badge</h2>
      <p class="muted">Anyone with its URL can see the state of this check, and nothing else.</p>
      <p>
        <BadgeImage {...badge} />
      </p>
      <BadgeForms {...badge} />
    </section>
  )
}

function MoreActions({ context, workspace }: { context: Context; workspace: CheckWorkspace }) {
  const { check, project, projects } = workspace
  const path = `/checks/${check.uuid}`
  const targets = projects.filter((one) => one.id !== project.id && may(one.role, 'manage'))
  return (
    <section class="card" aria-labelledby="more">
      <h2 id="more">More</h2>
      <div class="stack">
        <ButtonForm context={context} action={`${path}/copy`} label="Make a copy" />
        {may(project.role, 'manage') && targets.length > 0 && (
          <Form
            context={context}
            action={`${path}/transfer`}
            class="inline"
            confirm={`Move ${nameOf(check)} to another project? Its integrations stay behind: choose others for it there.`}
            yes="Move"
          >
            <label for="transfer">Move to</label>
            <select id="transfer" name="project">
              {targets.map((one) => (
                <option key={one.uuid} value={one.uuid}>
                  {one.name}
                </option>
              ))}
            </select>
            <button type="submit">Move</button>
          </Form>
        )}
        <ButtonForm
          context={context}
          action={`${path}/delete`}
          confirm={`Delete ${nameOf(check)} with its whole log of ${check.nPings.toLocaleString('en')} pings? This cannot be undone.`}
          yes="Delete check"
          label="Delete check"
          variant="danger"
        />
      </div>
    </section>
  )
}
