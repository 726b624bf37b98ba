import { randomBytes } from 'node:crypto'
import { generateKey, type KeyKind, keyPrefix } from '#shared/monitoring/projects/api-key.ts'
import { insertProjectKey } from '#shared/monitoring/projects/store.ts'
import { eventually } from '../../support/eventually.ts'
import type { Account } from './installation.ts'

/** The pages of a filled project, and the text that each must show. */
export const PROJECT_PAGES = [
  ...['checks', 'filtered', 'check', 'ping', 'new check', 'edit check', 'rules', 'badges'],
  ...['integrations', 'catalogue', 'new webhook', 'new group', 'integration', 'disabled integration'],
  ...['policies', 'new policy', 'policy', 'incidents', 'incident', 'simulator', 'windows', 'new window', 'window'],
  ...['on call', 'new schedule', 'schedule', 'edit schedule', 'override', 'swap'],
  ...[
    'settings',
    'keys',
    'publish status page',
    'move in',
    'status notes',
    'status',
    'projects',
    'people',
    'audit',
    'account',
    'second factor',
  ],
  ...['my notifications', 'new contact method', 'contact method'],
] as const

/** Addresses of the pages of a filled project, by their content. */
export type ProjectPaths = Record<(typeof PROJECT_PAGES)[number], string>

/** Sends a body to the management API. Returns the answer. */
export type Post = (path: string, body: object) => Promise<{ id: string; uuid: string; ping_url: string }>

/** Adds a key with write access to the project of an account. Returns a client of the management API. */
export async function openApi({ app, project }: Account): Promise<Post> {
  const key = await insertKey({ app, project }, 'rw')
  return async (path, body) => {
    const answer = await fetch(`${app.url}/api/v3/${path}`, {
      method: 'POST',
      headers: { 'X-Api-Key': key },
      body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(await answer.text())
    return await answer.json()
  }
}

async function insertKey({ app, project }: Pick<Account, 'app' | 'project'>, kind: KeyKind): Promise<string> {
  const { db, secrets } = app.deps
  const text = generateKey(kind, randomBytes)
  const sealed = kind === 'ping' ? { sealed: secrets.seal('ping-key', text) } : {}
  const key = { projectId: project.id, kind, prefix: keyPrefix(text), digest: secrets.digest(text), ...sealed }
  await insertProjectKey(db, key)
  return text
}

/** Fills the project of an account with objects of every kind. Returns the addresses of its pages. */
export async function fillProject(account: Account, post: Post): Promise<ProjectPaths> {
  const { app, project, organisation } = account
  const { db } = app.deps
  await insertKey(account, 'ping')
  const token = randomBytes(11).toString('hex')
  await db('status_pages').insert({
    ...{ project_id: project.id, token, title: 'Acme status' },
    ...{ intro: 'How our services are.', is_grouped: true },
  })
  await db('status_notes').insert({ project_id: project.id, title: 'Slow logins', body: 'We are looking at it.' })

  const mail = await post('channels/', { kind: 'email', name: 'On-call', config: { value: 'oncall@example.com' } })
  await db('integrations').where({ uuid: mail.id }).update({ email_verified: true })
  const chat = await post('channels/', { kind: 'slack', name: 'Ops room', config: { url: `${app.url}/livez` } })
  await db('integrations')
    .where({ uuid: chat.id })
    .update({ disabled_at: new Date(), last_error: 'Received status code 404' })
  const backup = await post('checks/', {
    name: 'Nightly backup',
    slug: 'nightly-backup',
    tags: 'prod db',
    desc: 'Dumps the main database.',
    schedule: '15 3 * * *',
    tz: 'Asia/Kolkata',
    grace: 1800,
    channels: '*',
    filter_subject: true,
    failure_kw: 'ERROR',
  })
  const queue = await post('checks/', { name: 'Mail queue', tags: 'prod', timeout: 300, grace: 60, channels: mail.id })
  const smoke = await post('checks/', { name: 'Smoke test', tags: 'staging', timeout: 900 })
  const noName = await post('checks/', { name: '', tags: 'staging', timeout: 900 })
  const { policy, window } = await addAlerting(post, mail.id, chat.id)
  const schedule = await addSchedule(account, post)
  const ping = async (url: string, body?: string) => {
    await fetch(url, { method: 'POST', ...(body !== undefined && { body }) })
  }
  for (let run = 0; run < 4; run++) {
    const rid = `00000000-0000-4000-8000-00000000000${run}`
    await ping(`${backup.ping_url}/start?rid=${rid}`)
    await ping(`${backup.ping_url}?rid=${rid}`, 'all tables dumped')
  }
  await ping(queue.ping_url)
  await ping(`${queue.ping_url}/start`)
  await ping(`${noName.ping_url}/fail`)
  await ping(`${smoke.ping_url}/fail`, '<script>alert(1)</script>')
  await eventually(
    'the pings to be applied',
    async () => Number((await db('checks').where({ project_id: project.id }).sum('n_pings as n').first())?.n) >= 12,
  )
  const incident = await firstIncident(account)
  const base = `/projects/${project.uuid}`
  const contact = await addContact(account)
  return {
    checks: `${base}/checks`,
    filtered: `${base}/checks?tag=staging&status=down`,
    check: `/checks/${backup.uuid}`,
    ping: `/checks/${smoke.uuid}/pings/1`,
    'new check': `${base}/checks/new`,
    'edit check': `/checks/${backup.uuid}/edit`,
    integrations: `${base}/integrations`,
    catalogue: `${base}/integrations/new`,
    'new webhook': `${base}/integrations/new/webhook`,
    'new group': `${base}/integrations/new/group`,
    integration: `/integrations/${mail.id}`,
    'disabled integration': `/integrations/${chat.id}`,
    policies: `${base}/policies`,
    'new policy': `${base}/policies/new`,
    policy: `${base}/policies/${policy.id}`,
    incidents: `${base}/incidents`,
    incident: `/incidents/${incident}`,
    simulator: `${base}/simulator?check=${backup.uuid}`,
    rules: `/checks/${backup.uuid}/rules`,
    windows: `${base}/windows`,
    'new window': `${base}/windows/new`,
    window: `${base}/windows/${window.id}`,
    'on call': `${base}/on-call`,
    'new schedule': `${base}/on-call/new`,
    schedule: `${base}/on-call/${schedule.id}`,
    'edit schedule': `${base}/on-call/${schedule.id}/edit`,
    override: `${base}/on-call/${schedule.id}/override`,
    swap: `${base}/on-call/${schedule.id}/swap`,
    badges: `${base}/badges`,
    settings: `${base}/settings`,
    keys: `${base}/keys`,
    'publish status page': `${base}/status-page`,
    'move in': `${base}/move-in`,
    'status notes': `${base}/status-notes`,
    status: `/status/${token}`,
    projects: '/projects',
    people: `/organisations/${organisation.uuid}/members`,
    audit: `/organisations/${organisation.uuid}/audit`,
    account: '/account',
    'second factor': '/account/second-factor',
    'my notifications': '/account/notifications',
    'new contact method': '/account/notifications/new/telegram',
    'contact method': `/account/notifications/${contact.id}`,
  }
}

async function firstIncident({ app, project }: Account): Promise<string> {
  return await eventually('the incidents of the failed checks', async () => {
    const rows = await app.deps.db('incidents').where({ project_id: project.id }).orderBy('n')
    return rows.length >= 2 && String(rows[0].id)
  })
}

async function addContact({ app, userId }: Account): Promise<{ id: string }> {
  const sealed = app.deps.secrets.seal('contact', JSON.stringify({ topic: 'ada', url: 'https://ntfy.example' }))
  const [contact] = await app.deps
    .db('contact_methods')
    .insert({ user_id: userId, kind: 'ntfy', name: 'Phone', sealed_config: sealed, recoveries: true })
    .returning('id')
  return contact
}

/** Adds a schedule with two layers, an override and a coverage gap. */
async function addSchedule({ app, organisation }: Account, post: Post) {
  const people: string[] = await app
    .db('users')
    .join('memberships', 'memberships.user_id', 'users.id')
    .where({ organisation_id: organisation.id })
    .pluck('email')
  const days = ['mon', 'tue', 'wed', 'thu', 'fri']
  const schedule = await post('on-call/schedules/', {
    name: 'Primary',
    tz: 'Europe/Berlin',
    layers: [
      {
        name: 'Office',
        people: [...people, 'left@example.com'],
        start: '2026-01-05T09:00',
        rotation: { unit: 'day', on: days },
        hours: [{ days, from: '09:00', to: '18:00' }],
      },
      { people, start: '2026-01-05T09:00', rotation: { unit: 'week' }, hours: [{ days, from: '18:00', to: '09:00' }] },
    ],
  })
  const [start, end] = [2, 3].map((day) => new Date(Date.now() + day * 86_400_000).toISOString().replace(/\.\d+/, ''))
  await post(`on-call/schedules/${schedule.id}/overrides/`, { person: people[0], start, end, note: 'holiday' })
  return schedule
}

const MAIL = `From: job@example.com
To: check@example.com
Subject: Backup of the billing database
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary=part

--part
Content-Type: text/plain; charset=utf-8

All 214 tables dumped.
--part
Content-Type: text/html; charset=utf-8

<h1>All 214 tables dumped</h1>${'<p>A line of the report, with <a href="https://example.com/">a link</a>.</p>'.repeat(40)}
--part--
`.replaceAll('\n', '\r\n')

/** Adds a check that received one ping: a mail with text and HTML. Returns the path of its page. */
export async function addMailedCheck({ app, project }: Account): Promise<string> {
  const { db } = app.deps
  const [{ id, uuid }] = await db('checks')
    .insert({ project_id: project.id, name: 'By mail', status: 'paused', n_pings: 1, last_ping: new Date() })
    .returning(['id', 'uuid'])
  await db.raw(
    `INSERT INTO pings (check_id, slot, n, type, at, scheme, method, remote_addr, ua, body)
     VALUES (?, 1, 1, 'success', now(), 'email', '', NULL, '', ?)`,
    [id, Buffer.from(MAIL)],
  )
  return `/checks/${uuid}`
}

/** Adds an alert policy and two maintenance windows. */
async function addAlerting(post: Post, mail: string, chat: string) {
  const policy = await post('policies/', {
    name: 'On call',
    match: 'prod',
    steps: [
      { channels: mail, repeat: { every: 3600 } },
      {
        wait: 900,
        channels: `${mail},${chat}`,
        severity: 'critical',
        hours: [{ every: 'Mon..Fri 08:00', for: 36_000, tz: 'Asia/Kolkata' }],
      },
    ],
    ack_timeout: 14_400,
  })
  const window = await post('windows/', { name: 'Patch night', match: 'db', for: 7200, uptime: 'exclude', shown: true })
  await post('windows/', { name: 'Weekly', match: '*', every: 'Sat 02:00', for: 7200, tz: 'Europe/Riga' })
  return { policy, window }
}
