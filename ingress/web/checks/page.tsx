import { listChannels } from '#shared/monitoring/channels/store.ts'
import { nameOf } from '#shared/monitoring/checks/name.ts'
import { shownStatus } from '#shared/monitoring/checks/status.ts'
import { splitTags } from '#shared/monitoring/checks/tags.ts'
import { downtimeByMonth, knownSince } from '#shared/monitoring/flips/downtime.ts'
import { checkFingerprint, findCreation } from '#shared/monitoring/pages/check-log-store.ts'
import { downDays } from '#shared/monitoring/pages/down-days.ts'
import { listFlipsOfChecks } from '#shared/monitoring/pages/status-history-store.ts'
import { finishDurations, planDurations } from '#shared/monitoring/pings/durations.ts'
import { listPings, lookBack } from '#shared/monitoring/pings/store.ts'
import { findLimitedPings, type LimitedPings } from '#shared/monitoring/pings/uses-store.ts'
import { listProjectKeys } from '#shared/monitoring/projects/store.ts'
import { nextOccurrence } from '#shared/monitoring/schedules/schedule.ts'
import { may } from '#shared/tenancy/accounts/roles.ts'
import { type Micros, microsOfDate } from '#shared/time.ts'
import { Form } from '../components/form.tsx'
import { StatusGlyph } from '../components/icons.tsx'
import { Ago, Exact } from '../components/time.tsx'
import { type Context, type Pages, redirect } from '../frame/context.ts'
import { sendPage } from '../frame/layout.tsx'
import { liveAddress } from '../frame/live.ts'
import { type CheckWorkspace, checkPath, openCheck } from '../frame/workspace.ts'
import { DurationChart } from './chart.tsx'
import { DowntimeTable, FilterRules, HowToPing, ScheduleFacts, UsedIntegrations } from './facts.tsx'
import { Figures } from './figures.tsx'
import { CheckLog, readLog } from './log.tsx'
import { runsOf } from './runs.ts'
import { statusSentence } from './status-sentence.ts'
import { loadToldBy, ToldByCard } from './told-by.tsx'

const MONTHS = 3
const DAYS = 90
/** Pings that the chart looks at. */
const CHARTED = 200

export function checkPages(pages: Pages): void {
  pages.get('/checks/:check', showCheck)
}

async function showCheck(context: Context): Promise<void> {
  const { deps } = context
  const opened = await openCheck(context, 'view')
  const path = checkPath(opened.check, opened.project)
  // Messages name a check by its unique key, which tells outsiders nothing.
  if (context.params.check !== opened.check.uuid && may(opened.project.role, 'edit')) return redirect(context, path)
  await deps.barrier.pass([opened.check.id])
  const { mark } = await checkFingerprint(deps.db, opened.check.id)
  // Read again: the pings before this request are in it now.
  const workspace = await openCheck(context, 'view')
  const { check, project } = workspace
  const now = deps.now()
  const afterN = check.nPings - deps.config.pingLogLimit
  const [channels, flipsOf, pings, keys, log, createdAt, limited, toldBy] = await Promise.all([
    listChannels(deps.db, project.id),
    listFlipsOfChecks(deps.db, [check.id]),
    listPings(deps.db, check.id, afterN, CHARTED),
    listProjectKeys(deps.db, project.id),
    readLog(context, check, afterN),
    findCreation(deps.db, check.id),
    findLimitedPings(deps.db, check.id),
    loadToldBy(deps.db, check),
  ])
  const flips = flipsOf.get(check.id) ?? []
  const since = knownSince(check, flips, createdAt)
  const plan = planDurations(pings)
  const durations = finishDurations(plan, await lookBack(deps.db, check.id, plan.lookBacks))
  const status = shownStatus(check, now, nextOccurrence)
  const sealedPingKey = keys.find((key) => key.kind === 'ping')?.sealed ?? null
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
      live: liveAddress(`${path}/events`, mark),
    },
    <>
      <p class="crumb">
        <a href={`/projects/${project.uuid}/checks`}>{project.name}</a>
      </p>
      <div class="page-head" data-region="head">
        <h1 class="check-title">
          <StatusGlyph status={status} isRunning={check.lastStart !== null} />
          {nameOf(check)}
        </h1>
        {mayEdit && <Actions context={context} workspace={workspace} isPaused={status === 'paused'} />}
      </div>
      <div data-region="status">
        <p class={`sentence is-${status}`}>{statusSentence(check, status, now, flips.at(-1))}</p>
      </div>
      <About tags={splitTags(check.tags)} desc={check.desc} />

      <div class="check-grid">
        <div class="check-main">
          <Figures
            check={check}
            status={status}
            days={downDays(flips, DAYS, now)}
            runs={runs}
            since={since}
            now={now}
          />
          {mayEdit && (
            <HowToPing
              check={check}
              base={deps.config.publicUrl}
              pingKey={sealedPingKey === null ? null : deps.secrets.open('ping-key', sealedPingKey)}
              emailDomain={deps.config.pingEmailDomain}
            />
          )}
          <section class="card" data-region="durations" aria-labelledby="durations">
            <h2 id="durations">Durations</h2>
            <DurationChart runs={runs} />
          </section>
          {limited && <LimitedNotice limited={limited} perMinute={deps.config.pingRateLimitPerMinute} now={now} />}
          <CheckLog context={context} path={path} log={log} now={now} />
        </div>
        <div class="check-side">
          <section class="card" data-region="downtime" aria-labelledby="downtime">
            <h2 id="downtime">Last three months</h2>
            <DowntimeTable months={downtimeByMonth(flips, MONTHS, now)} since={since} />
          </section>
          <ScheduleFacts check={check} now={now} />
          <UsedIntegrations check={check} channels={channels} projectUuid={project.uuid} />
          <ToldByCard toldBy={toldBy} channels={channels} now={now} />
          <FilterRules check={check} />
          {mayEdit && <MoreActions context={context} workspace={workspace} />}
        </div>
      </div>
    </>,
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
      {desc !== '' && <p class="desc">{desc}</p>}
    </>
  )
}

function LimitedNotice(props: { limited: LimitedPings; perMinute: number; now: Micros }) {
  const { count, since, lastAt } = props.limited
  return (
    <p class="notice" role="status">
      {count.toLocaleString('en')} {count === 1 ? 'ping was' : 'pings were'} not logged since{' '}
      <Exact at={microsOfDate(since)} /> UTC, the last <Ago at={microsOfDate(lastAt)} now={props.now} />: the check was
      pinged more often than the limit of {props.perMinute.toLocaleString('en')} a minute allows.
    </p>
  )
}

function Actions(props: { context: Context; workspace: CheckWorkspace; isPaused: boolean }) {
  const path = `/checks/${props.workspace.check.uuid}`
  return (
    <div class="row">
      <form method="post" action={`/ping/${props.workspace.check.uuid}`} data-inline="Pinged">
        <button type="submit">Ping now</button>
      </form>
      <Form context={props.context} action={`${path}/${props.isPaused ? 'resume' : 'pause'}`}>
        <button type="submit">{props.isPaused ? 'Resume' : 'Pause'}</button>
      </Form>
      <a class="button" href={`${path}/edit`}>
        Edit
      </a>
    </div>
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
        <Form context={context} action={`${path}/copy`}>
          <button type="submit">Make a copy</button>
        </Form>
        {may(project.role, 'manage') && targets.length > 0 && (
          <Form context={context} action={`${path}/transfer`} class="inline">
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
        <Form
          context={context}
          action={`${path}/delete`}
          confirm={`Delete ${nameOf(check)} with its whole log of ${check.nPings.toLocaleString('en')} pings? This cannot be undone.`}
          yes="Delete check"
        >
          <button type="submit" class="danger">
            Delete check
          </button>
        </Form>
      </div>
    </section>
  )
}
