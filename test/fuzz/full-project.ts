import { randomUUID } from 'node:crypto'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { createTeam, join, type Team } from '../ingress/web/people.ts'
import { eventually } from '../support/eventually.ts'
import type { HttpProduct } from '../support/product.ts'
import { addKey } from '../support/projects.ts'
import { jsonOf, send } from '../support/send.ts'

const CHECKS = 1_000
const TAGS = 1_000
const TAGS_PER_CHECK = 80
const WINDOWS = 100
const POLICIES = 50
const INTEGRATIONS = 100
const NOTES = 100
/** Checks that are down, each with an incident. */
const FAILED = 30
/** Checks and windows whose schedule is only in a skipped hour of the zone. The API refuses them. */
const NEVER = ['02:15', '02:20', '02:25', '02:30'].map((time) => `Sun *-3-25..31 ${time}`).join('\n')
const NEVER_OCCURRING = 20

/** A project at all its limits, with the credentials and ids of its owner. */
export interface FullProject {
  uuid: string
  organisation: string
  rwKey: string
  roKey: string
  cookie: string
  csrf: string
  /** document that fills the project */
  document: object
  checks: readonly string[]
  integrations: readonly string[]
  windows: readonly string[]
  policies: readonly string[]
  incidents: readonly string[]
  notes: readonly string[]
  /** of its public status page */
  statusToken: string
  /** paths of badges */
  badges: readonly string[]
}

/** Creates a project with the largest configuration that an import takes, and outages, notes and a status page. */
export async function openFullProject(app: HttpProduct): Promise<FullProject> {
  const team = await createTeam(app, `Full ${randomUUID()}`)
  const owner = await join(app, team, 'owner')
  const rwKey = await addKey(app.deps, team.project.id, 'rw')
  const document = fullDocument()
  const headers = { 'X-Api-Key': rwKey }
  const body = JSON.stringify(document)
  const imported = await send(app.url, '/api/v3/import?apply=1', { method: 'POST', headers, body })
  if (imported.status !== 200) throw new Error(`the import failed: ${imported.status} ${imported.text.slice(0, 300)}`)
  await owner.post(`/projects/${team.project.uuid}/status-page`, { title: 'Full', tags: '', intro: '' }, '/account')
  await addRows(app, team)
  const checks = document.checks.map(({ uuid }) => uuid)
  await Promise.all(checks.slice(0, FAILED).map((uuid) => send(app.url, `/ping/${uuid}/fail`)))
  const { db } = app
  const ofProject = { project_id: team.project.id }
  const incidents = await eventually('the incidents', async () => {
    const rows = await db('incidents').where(ofProject).select('id')
    return rows.length === FAILED ? rows : undefined
  })
  const notes = await db('status_notes').where(ofProject).select('uuid')
  const page = await db('status_pages').where(ofProject).first('token')
  const listed = jsonOf(await send(app.url, '/api/v3/badges/', { headers })) as { badges: Record<string, BadgeUrls> }
  return {
    uuid: team.project.uuid,
    organisation: team.organisationUuid,
    rwKey,
    roKey: await addKey(app.deps, team.project.id, 'ro'),
    cookie: [...owner.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    csrf: await owner.token('/account'),
    document,
    checks,
    integrations: document.channels.map(({ id }) => id),
    windows: document.windows.map(({ id }) => id),
    policies: document.policies.map(({ id }) => id),
    incidents: incidents.map(({ id }) => String(id)),
    notes: notes.map(({ uuid }) => String(uuid)),
    statusToken: String(page?.token),
    badges: ['*', 't0'].flatMap((tag) => Object.values(listed.badges[tag] ?? {})).map((url) => new URL(url).pathname),
  }
}

type BadgeUrls = Readonly<Record<string, string>>

function fullDocument() {
  const integrations = numbers(INTEGRATIONS).map((n) => ({
    id: randomUUID(),
    kind: 'webhook',
    name: `hook ${n}`,
    config: { url: 'http://127.0.0.1:65000/' },
  }))
  const integrationOf = (n: number) => integrations[n % INTEGRATIONS]?.id ?? ''
  return {
    version: 1,
    channels: integrations,
    checks: numbers(CHECKS).map((n) => ({
      uuid: randomUUID(),
      name: `job ${n}`,
      slug: `job-${n}`,
      tags: tagsFrom(n),
      desc: `Runs on machine ${n}.`,
      ...(n % 2 === 0 ? { timeout: 3_600 } : { schedule: '*/5 2 * * 1-5', tz: 'Europe/Paris' }),
      grace: 300,
      channels: `${integrationOf(n)},${integrationOf(n + 1)}`,
    })),
    policies: numbers(POLICIES).map((n) => ({
      id: randomUUID(),
      name: `policy ${n}`,
      match: `t${n}`,
      position: n,
      steps: numbers(10).map((step) => ({ wait: step * 60, channels: integrationOf(n + step) })),
    })),
    windows: numbers(WINDOWS).map((n) => ({
      id: randomUUID(),
      name: `window ${n}`,
      match: `t${n}`,
      every: '30 3 * * 1-5',
      for: 3_600,
      tz: 'America/New_York',
      uptime: 'exclude',
      shown: true,
    })),
  }
}

/** The maximum number of tags of a check; together the checks use all tags of the project. */
function tagsFrom(n: number): string {
  return numbers(TAGS_PER_CHECK)
    .map((at) => `t${(n * TAGS_PER_CHECK + at) % TAGS}`)
    .join(' ')
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n)
}

/** Stores rows that an import does not create: notes, and schedules without a further occurrence. */
async function addRows({ db }: HttpProduct, { project }: Team): Promise<void> {
  const ofProject = { project_id: project.id }
  await db('status_notes').insert(numbers(NOTES).map((n) => ({ ...ofProject, title: `note ${n}`, body: 'Read this.' })))
  const newest = db('checks').where(ofProject).orderBy('id', 'desc').limit(NEVER_OCCURRING).select('id')
  await db('checks').whereIn('id', newest).update({ kind: 'oncalendar', schedule: NEVER, tz: 'Europe/Paris' })
  const windows = db('maintenance_windows').where(ofProject).orderBy('id', 'desc').limit(NEVER_OCCURRING).select('id')
  await db('maintenance_windows')
    .whereIn('id', windows)
    .update({ every: NEVER.split('\n')[0], tz: 'Europe/Paris' })
}

/** Returns values for the variables of a path. Each round selects other objects, because an earlier one may delete its. */
export function variablesOf(full: FullProject, path: string, round: number): Readonly<Record<string, string>> {
  const nth = (list: readonly string[]) => list[round % list.length] ?? ''
  const check = nth(full.checks)
  return {
    uuid: path.includes('/channels/') ? nth(full.integrations) : path.startsWith('/projects/') ? full.uuid : check,
    unique_key: uniqueKey(check),
    check,
    project: full.uuid,
    organisation: full.organisation,
    integration: nth(full.integrations),
    window: nth(full.windows),
    policy: nth(full.policies),
    incident: nth(full.incidents),
    note: nth(full.notes),
    token: full.statusToken,
    key: full.roKey,
    kind: 'webhook',
    n: '1',
  }
}
