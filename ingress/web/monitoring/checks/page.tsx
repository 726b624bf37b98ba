import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { nameOf } from '#shared/monitoring/checks/slug.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { knownSince } from '#shared/monitoring/flips/downtime.ts'
import { listIntegrations } from '#shared/monitoring/integrations/store.ts'
import { uncounted } from '#shared/monitoring/maintenance/uptime.ts'
import type { WindowTime } from '#shared/monitoring/maintenance/window.ts'
import { checkFingerprint, findCreation, listNotifiedSince } from '#shared/monitoring/pages/check-log-store.ts'
import { downDays } from '#shared/monitoring/pages/down-days.ts'
import { listFlipsOfChecks } from '#shared/monitoring/pages/status-history-store.ts'
import { finishDurations, planDurations } from '#shared/monitoring/pings/durations.ts'
import { listPings, lookBack } from '#shared/monitoring/pings/store.ts'
import { listProjectKeys, sealedPingKey } from '#shared/monitoring/projects/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { statementsSince } from '#shared/monitoring/statements/statement-store.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { type Micros, microsOfSeconds } from '#shared/time.ts'
import { ButtonForm } from '../../forms/form.tsx'
import { Crumb, LinkedText } from '../../shell/basics.tsx'
import { type Context, type Pages, redirect } from '../../shell/context.ts'
import { StatusGlyph } from '../../shell/icons.tsx'
import { sendPage } from '../../shell/layout.tsx'
import { liveAddress } from '../../shell/live.ts'
import { type CheckWorkspace, checkPath, requireCheckPage } from '../../shell/workspace.ts'
import { loadAlertPolicy, NextNotification } from './alert-policy-card.tsx'
import { findLost, LostPings } from './attention-strip.tsx'
import { DurationChart } from './chart.tsx'
import { loadRelatives } from './depends-on.tsx'
import { PingInstructions } from './facts.tsx'
import { Output, readFailureOutput } from './failure-output.tsx'
import { Figures } from './figures.tsx'
import { Lanes } from './lanes.tsx'
import { CheckLog, readLog } from './log.tsx'
import { loadMaintenance, type Maintenance, MaintenanceNote, MuteForm } from './maintenance.tsx'
import { type Run, runsOf } from './runs.ts'
import { Side } from './side.tsx'
import { StatusSentence } from './status-sentence.tsx'
import { loadUnknown, UnknownNote } from './unknown-periods.tsx'
import { FlaggedRuns, lanesOfWatched, loadWatched, type WatchedRuns } from './watched-runs.tsx'

const DAYS = 90
const LOOKED_BACK: Micros = microsOfSeconds((DAYS + 3) * 86_400)
/** Maximum number of pings in the chart. */
const CHARTED = 200

export function checkPages(pages: Pages): void {
  pages.get('/checks/:check', showCheck)
}

async function showCheck(context: Context): Promise<void> {
  const { deps } = context
  const opened = await requireCheckPage(context, 'view')
  const path = checkPath(opened.check, opened.project)
  // Links in messages contain the unique key, which is not a ping address. Editors continue at the uuid.
  if (context.params.check !== opened.check.uuid && may(opened.project.role, 'edit')) return redirect(context, path)
  await deps.barrier.pass([opened.check.id])
  const { fingerprint } = await checkFingerprint(deps.db, opened.check.id)
  // Reads again to include the pings before this request.
  const workspace = await requireCheckPage(context, 'view')
  const { check, project } = workspace
  const now = deps.now()
  const afterN = check.nPings - deps.config.pingLogLimit
  const facts = await loadFacts(context, workspace, afterN, now)
  const { integrations, flipsOf, pings, keys, log, createdAt, lost, alertPolicy, maintenance, relatives } = facts
  const { stated, unknown, watched } = facts
  const flips = flipsOf.get(check.id) ?? []
  const last = flips.at(-1)
  const notified = last?.to === 'down' ? await listNotifiedSince(deps.db, check.id, last.at) : []
  const failure = last?.to === 'down' && last.reason === 'fail' ? pings.find(({ type }) => type === 'fail') : undefined
  const output = failure ? await readFailureOutput(deps, check, failure.n) : null
  const since = knownSince(check, flips, createdAt)
  const plan = planDurations(pings)
  const durations = finishDurations(plan, await lookBack(deps.db, check.id, plan.lookBacks))
  const status = shownStatus(check, now, nextOccurrence)
  const sealed = sealedPingKey(keys)
  const mayEdit = may(project.role, 'edit')
  const runs = runsOf(pings, durations, check.lastStart, now)
  sendPage(
    context,
    {
      title: `${nameOf(check)} · ${project.name}`,
      workspace,
      project,
      area: 'checks',
      isDown: status === 'down',
      live: liveAddress(`${path}/events`, fingerprint),
    },
    <>
      <Head context={context} workspace={workspace} status={status} maintenance={maintenance} mayEdit={mayEdit} />
      <div data-region="status">
        <StatusSentence check={check} status={status} now={now} lastFlip={last} notified={notified} />
        <Output output={output} path={path} showsBody={mayEdit} />
        <NextNotification alertPolicy={alertPolicy} now={now} />
        <UnknownNote unknown={unknown} status={status} />
        <MaintenanceNote maintenance={maintenance} base={`/projects/${project.uuid}`} />
      </div>
      <About tags={splitTags(check.tags)} desc={check.desc} />

      <div class="check-grid">
        <div class="check-main">
          <Figures
            check={check}
            status={status}
            days={downDays(flips, DAYS, now, {
              excluded: maintenance.excluded,
              planned: maintenance.excluded,
              unknown: unknown.spans,
            })}
            excluded={uncounted(maintenance.excluded, unknown.spans, flips)}
            runs={runs}
            since={since}
            now={now}
          />
          {mayEdit && (
            <PingInstructions
              check={check}
              base={deps.config.publicUrl}
              pingKey={sealed === null ? null : deps.secrets.open('ping-key', sealed)}
              emailDomain={deps.config.pingEmailDomain}
            />
          )}
          <Durations runs={runs} path={path} watched={watched} gaps={unknown.gaps} now={now} />
          <LostPings lost={lost} perMinute={deps.config.pingRateLimitPerMinute} now={now} />
          <CheckLog context={context} path={path} log={log} now={now} showsBodies={mayEdit} tz={check.tz} />
        </div>
        <Side
          context={context}
          workspace={workspace}
          facts={{ flips, integrations, alertPolicy, maintenance, relatives, stated, unknown, since }}
          now={now}
        />
      </div>
    </>,
  )
}

/** Loads independent parts of the page in parallel. @param afterN pings up to this number are deleted */
async function loadFacts(context: Context, { check, project }: CheckWorkspace, afterN: number, now: Micros) {
  const { deps } = context
  const [
    integrations,
    flipsOf,
    pings,
    keys,
    log,
    createdAt,
    lost,
    alertPolicy,
    maintenance,
    relatives,
    stated,
    unknown,
    watched,
  ] = await Promise.all([
    listIntegrations(deps.db, project.id),
    listFlipsOfChecks(deps.db, [check.id]),
    listPings(deps.db, check.id, afterN, CHARTED),
    listProjectKeys(deps.db, project.id),
    readLog(context, check, afterN),
    findCreation(deps.db, check.id),
    findLost(deps.db, check.id),
    loadAlertPolicy(deps.db, check, requestedFlip(context), deps.now()),
    loadMaintenance(deps.db, check, now, DAYS + 3),
    loadRelatives(deps.db, check, now),
    statementsSince(deps.db, project.id),
    loadUnknown(deps.db, check, now - LOOKED_BACK, now),
    loadWatched(deps.db, check),
  ])
  const pinged = { pings, keys, log, createdAt, lost, watched }
  return { ...pinged, integrations, flipsOf, alertPolicy, maintenance, relatives, stated, unknown }
}

function requestedFlip({ query }: Context): number | null {
  const text = query.get('why') ?? ''
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

function Head(props: {
  context: Context
  workspace: CheckWorkspace
  status: ShownStatus
  maintenance: Maintenance
  mayEdit: boolean
}) {
  const { context, workspace, status, maintenance, mayEdit } = props
  const { check, project } = workspace
  return (
    <>
      <Crumb href={`/projects/${project.uuid}/checks`} label={project.name} />
      <div class="page-head" data-region="head">
        <h1 class="check-title">
          <StatusGlyph status={status} isRunning={check.lastStart !== null} />
          {nameOf(check)}
        </h1>
        {mayEdit && (
          <Actions context={context} workspace={workspace} maintenance={maintenance} isPaused={status === 'paused'} />
        )}
      </div>
    </>
  )
}

function Durations(props: {
  runs: readonly Run[]
  path: string
  watched: WatchedRuns | null
  gaps: readonly WindowTime[]
  now: Micros
}) {
  const { runs, path, watched, gaps, now } = props
  const drawn = watched ? lanesOfWatched(watched, now) : runs.map((run) => ({ ...run, deadline: null, remarks: [] }))
  return (
    <section class="card" data-region="durations" aria-labelledby="durations">
      <h2 id="durations">Durations</h2>
      <DurationChart runs={runs} path={path} limit={watched?.limit ?? null} />
      <Lanes runs={drawn} gaps={gaps} now={now} always={watched?.rule.watch === 'each'} />
      {watched && <FlaggedRuns watched={watched} now={now} />}
    </section>
  )
}

function About({ tags, desc }: { tags: readonly string[]; desc: string }) {
  return (
    <>
      {tags.length > 0 && (
        <p class="row-tags">
          {tags.map((tag, index) => (
            <span class="tag small" key={`${tag}${index}`}>
              {tag}
            </span>
          ))}
        </p>
      )}
      {desc !== '' && (
        <p class="desc">
          <LinkedText text={desc} />
        </p>
      )}
    </>
  )
}

function Actions(props: { context: Context; workspace: CheckWorkspace; maintenance: Maintenance; isPaused: boolean }) {
  const path = `/checks/${props.workspace.check.uuid}`
  return (
    <div class="row">
      <form method="post" action={`/ping/${props.workspace.check.uuid}`} data-inline="Pinged">
        <button type="submit">Ping now</button>
      </form>
      <ButtonForm
        context={props.context}
        action={`${path}/${props.isPaused ? 'resume' : 'pause'}`}
        label={props.isPaused ? 'Resume' : 'Pause'}
      />
      <MuteForm context={props.context} path={path} maintenance={props.maintenance} />
      <a class="button" href={`${path}/edit`}>
        Edit
      </a>
    </div>
  )
}
