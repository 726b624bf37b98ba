import test from 'ava'
import { groupsOf, type PublicState } from '../../../ingress/web/monitoring/projects/public-labels.ts'
import { addIncident } from '../../support/incidents.ts'
import type { HttpProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import { createVisitor, type Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let base: string

test.before(async () => {
  app = await sharedProduct()
})
/** Creates a project with an owner for each test. */
async function setUp(): Promise<void> {
  team = await createTeam(app, 'Team')
  owner = await join(app, team, 'owner')
  base = `/projects/${team.project.uuid}`
}

/** Publishes the page. @returns its path */
async function publish(fields: Record<string, string> = {}): Promise<string> {
  await owner.post(`${base}/status-page`, { title: 'Acme status', tags: '', intro: '', ...fields }, '/account')
  const page = await app.db('status_pages').where({ project_id: team.project.id }).first('token')
  return `/status/${page?.token}`
}

const post = (title: string, text = '') => owner.post(`${base}/status-notes`, { title, text }, '/account')

/** Each test reads its page once, because public pages are cached for some seconds. */
const read = async (path: string) => await createVisitor(app.url).get(path)

/** Adds a check that was down, in hours before now; `until` is null if it still is. */
async function addOutage(name: string, from: number, until: number | null): Promise<void> {
  const uuid = await addCheck(owner, team, { name })
  const row = await app.db('checks').where({ uuid }).first('id')
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  const flip = (hours: number, from_status: string, to_status: string) =>
    app
      .db('flips')
      .insert({ check_id: row?.id, at: ago(hours), from_status, to_status, reason: 'timeout', processed_at: ago(0) })
  await flip(from + 10, 'new', 'up')
  await flip(from, 'up', 'down')
  if (until !== null) await flip(until, 'down', 'up')
  await app
    .db('checks')
    .where({ uuid })
    .update({ status: until === null ? 'down' : 'up', n_pings: 1, last_ping: ago(until ?? from) })
}

const of = (name: string, tags: string): PublicState & { check: { name: string; tags: string } } => ({
  check: { name, tags },
  status: 'up',
  maintenanceUntil: null,
})

test.serial('each check is listed once under its first tag, untagged checks last', (t) => {
  const all = [of('a', 'web eu'), of('b', ''), of('c', 'db'), of('d', 'web')]
  const shown = (isGrouped: boolean, list = all) =>
    groupsOf(list, isGrouped).map(({ name, members }) => [name, members.map(({ check }) => check.name).join()])
  t.deepEqual(shown(true), [
    ['db', 'c'],
    ['web', 'a,d'],
    ['Others', 'b'],
  ])
  t.deepEqual(shown(false), [['', 'a,b,c,d']])
  t.deepEqual(shown(true, [of('b', '')]), [['', 'b']], 'without any tag there are no groups')
})

test.serial('the page shows the texts of its project and the status of its groups', async (t) => {
  await setUp()
  await addCheck(owner, team, { name: 'Shop', tags: 'web' })
  await addCheck(owner, team, { name: 'Ledger', tags: 'db' })
  const { text } = await read(await publish({ intro: 'Times are <UTC>.\nMail us.', grouped: 'on' }))
  t.true(text.includes('Times are &lt;UTC>.\nMail us.') || text.includes('Times are &lt;UTC&gt;.\nMail us.'))
  t.deepEqual(
    [...text.matchAll(/<h2 class="public-group">(\w+) <small>([^<]+)/g)].map(([, name, state]) => `${name}: ${state}`),
    ['db: Nothing is known yet', 'web: Nothing is known yet'],
  )
  const settings = (await owner.get(`${base}/status-page`)).text
  t.regex(settings, /name="grouped"[^>]* checked/)
  t.true(settings.includes('Mail us.'))
})

test.serial('a note is published, ended and deleted, with audit entries', async (t) => {
  await setUp()
  const path = await publish()
  await post('Slow <logins>', 'We are looking.')
  const note = await app.db('status_notes').where({ project_id: team.project.id }).first()
  const own = async () => (await owner.get(`${base}/status-notes`)).text
  t.true((await own()).includes('It is over'))
  t.is((await owner.post(`${base}/status-notes/${note?.uuid}/end`, {}, '/account')).status, 303)
  t.false((await own()).includes('It is over'))
  t.is((await owner.post(`${base}/status-notes/${note?.uuid}/end`, {}, '/account')).status, 404, 'it has ended')
  const { text } = await read(path)
  t.regex(text, /class="card note is-over"><h2>Slow &lt;logins/)
  t.regex(text, /over since <time/)
  t.is((await owner.post(`${base}/status-notes/${note?.uuid}/delete`, {}, '/account')).status, 303)
  t.deepEqual(await app.db('status_notes').where({ project_id: team.project.id }), [])
  const actions = await app
    .db('audit_log')
    .where({ organisation_id: team.organisationId })
    .orderBy('id')
    .pluck('action')
  t.deepEqual(
    actions.filter((action) => action.includes('note-')),
    ['status-page.note-posted', 'status-page.note-ended', 'status-page.note-deleted'],
  )
})

test.serial('old ended notes are hidden, and only the newest are kept', async (t) => {
  await setUp()
  const path = await publish()
  const insert = (title: string, ended: string | null) =>
    app.db.raw('INSERT INTO status_notes (project_id, title, body, ended_at) VALUES (?, ?, ?, now() - ?::interval)', [
      team.project.id,
      title,
      '',
      ended,
    ])
  await insert('Long over', '8 days')
  await insert('Just over', '6 days')
  await insert('Open', null)
  const { text } = await read(path)
  t.deepEqual(
    [...text.matchAll(/class="card note[^>]*><h2>([^<]+)/g)].map(([, title]) => title),
    ['Open', 'Just over'],
  )
  for (let n = 0; n < 98; n++) await insert(`Note ${n}`, null)
  await post('The newest')
  const kept = await app.db('status_notes').where({ project_id: team.project.id }).orderBy('id').pluck('title')
  t.is(kept.length, 100)
  t.deepEqual([kept[0], kept.at(-1)], ['Open', 'The newest'])
})

test.serial('an invalid note keeps its values in the form', async (t) => {
  await setUp()
  const { status, text } = await post('x'.repeat(101), 'kept as typed')
  t.is(status, 400)
  t.true(text.includes('The title must have at most 100 characters') && text.includes('kept as typed'))
  t.is((await post('')).status, 400)
  t.deepEqual(await app.db('status_notes').where({ project_id: team.project.id }), [])
})

test.serial('the feed lists notes and outages in valid XML, newest first', async (t) => {
  await setUp()
  await addOutage('Shop & <Co>', 3, null)
  await addOutage('Ledger', 9, 8)
  const path = await publish({ title: 'Acme & Co' })
  await post('Slow logins', 'A\u0001B')
  const { text, headers } = await read(`${path}/feed.atom`)
  t.regex(String(headers['content-type']), /^application\/atom\+xml/)
  t.deepEqual(
    [...text.matchAll(/<title>([^<]+)/g)].map(([, title]) => title),
    ['Acme &amp; Co', 'Slow logins', 'Shop &amp; &lt;Co&gt; is down', 'Ledger was down'],
  )
  t.regex(text, /<content type="text">A\ufffdB<\/content>/)
  t.regex(text, /<updated>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00<\/updated>/)
  const ids = [...text.matchAll(/<id>([^<]+)/g)].map(([, id]) => id)
  t.is(new Set(ids).size, ids.length)
  const checks = await app.db('checks').where({ project_id: team.project.id }).pluck('uuid')
  t.false(
    checks.some((uuid) => text.includes(uuid)),
    'the feed contains no ping URL',
  )
})

test.serial('the feed omits outages during planned maintenance', async (t) => {
  await setUp()
  await addOutage('Ledger', 4, 3)
  await app.db('maintenance_windows').insert({
    project_id: team.project.id,
    name: 'Patch',
    match: '*',
    starts_at: new Date(Date.now() - 5 * 3_600_000),
    ends_at: new Date(Date.now() - 2 * 3_600_000),
    uptime: 'count',
    shown: true,
  })
  t.notRegex((await read(`${await publish()}/feed.atom`)).text, /<entry>/)
})

test.serial('an unpublished feed is 404, and only editors may write notes', async (t) => {
  await setUp()
  const path = await publish()
  t.true((await read(path)).text.includes(`href="${path}/feed.atom"`))
  await owner.post(`${base}/status-page/remove`, {}, '/account')
  t.is((await read(`${path}/feed.atom`)).status, 404)
  await post('Ours')
  const note = await app.db('status_notes').where({ project_id: team.project.id }).first('uuid')
  const viewer = await join(app, team, 'read-only', `viewer-${team.organisationId}@example.com`)
  const stranger = await join(
    app,
    await createTeam(app, `Other than ${t.title}`),
    'owner',
    `other-${team.organisationId}@example.com`,
  )
  for (const [person, refused] of [
    [viewer, 403],
    [stranger, 404],
  ] as const) {
    t.is((await person.get(`${base}/status-notes`)).status, refused)
    t.is((await person.post(`${base}/status-notes`, { title: 'x' }, '/account')).status, refused)
    for (const verb of ['end', 'delete'])
      t.is((await person.post(`${base}/status-notes/${note?.uuid}/${verb}`, {}, '/account')).status, refused)
  }
  const own = await createTeam(app, `Another of ${t.title}`)
  const other = await join(app, own, 'owner', `another-${team.organisationId}@example.com`)
  const through = `/projects/${own.project.uuid}/status-notes/${note?.uuid}/delete`
  t.is((await other.post(through, {}, '/account')).status, 404, 'a note of another project is unknown')
})

test.serial('concurrent visitors cause one read and one render', async (t) => {
  await setUp()
  await addCheck(owner, team, { name: 'Shop' })
  const path = await publish()
  const { publicHistories } = app.deps
  let [reads, renders] = [0, 0]
  class CountingMap<K, V> extends Map<K, V> {
    override set(key: K, value: V) {
      renders += 1
      return super.set(key, value)
    }
  }
  app.deps.publicHistories = (name, read) =>
    publicHistories(name, async () => {
      reads += 1
      return { ...(await read()), rendered: new CountingMap() }
    })
  const pages = await Promise.all(Array.from({ length: 60 }, () => read(path)))
  const feeds = await Promise.all(Array.from({ length: 60 }, () => read(`${path}/feed.atom`)))
  app.deps.publicHistories = publicHistories
  t.true(pages.every(({ status, text }) => status === 200 && text.includes('Shop')))
  t.true(feeds.every(({ status }) => status === 200))
  // On a slow machine the history may be read twice, because it is cached for three seconds.
  t.true(reads < 10, `${reads} reads`)
  t.true(renders <= 2 * reads, `${renders} renders of the page and the feed`)
})

test.serial('an address without a session has a limit of pages', async (t) => {
  const limited = await sharedProduct({ env: { PAGE_RATE_LIMIT_PER_MINUTE: '5' } })
  const from = (address: string) =>
    send(limited.url, `/status/${'x'.repeat(22)}`, { headers: { 'X-Forwarded-For': address } })
  const statuses = []
  for (let n = 0; n < 7; n++) statuses.push((await from('198.51.100.1')).status)
  t.deepEqual(statuses, [404, 404, 404, 404, 404, 429, 429])
  t.regex((await from('198.51.100.1')).headers['retry-after'] ?? '', /^[1-9]\d*$/)
  t.is((await from('198.51.100.2')).status, 404)
})

test.serial('the status page reports since when pings cannot be received', async (t) => {
  await setUp()
  await addCheck(owner, team, { name: 'db' })
  const path = await publish()
  const since = new Date(Math.floor(Date.now() / 1000) * 1000 - 600_000)
  const gap = { listener: 'http', shards: 1, from_at: since, kind: 'full', cause: 'down' }
  const [inserted] = await app.db('coverage_gaps').insert(gap).returning('id')
  try {
    const { text } = await read(path)
    t.regex(text, new RegExp(`no pings received since <time datetime="${since.toISOString().slice(0, 19)}`, 'i'))
    t.notRegex(text, /As of/)
  } finally {
    await app.db('coverage_gaps').where(inserted).delete()
  }
})

test.serial('a page with progress shows an acknowledged outage without a name', async (t) => {
  await setUp()
  await addOutage('Shop', 2, null)
  const { id: checkId } = await app.db('checks').where({ project_id: team.project.id }).first('id')
  const ack = { state: 'acknowledged', ack_by: 'anna@example.org', ack_at: new Date() }
  await addIncident(app.db, { projectId: team.project.id, checkId }, ack)
  const path = await publish()
  const quiet = (await read(path)).text
  t.notRegex(quiet, /being worked on/)
  await publish({ progress: 'on' })
  const { text } = await read(path)
  t.regex(text, /Down - being worked on/)
  t.notRegex(text, /anna/)
})

test.serial('an incident offers drafts of updates for the status page', async (t) => {
  await setUp()
  await addOutage('Shop', 2, null)
  const { id: checkId } = await app.db('checks').where({ project_id: team.project.id }).first('id')
  const id = await addIncident(app.db, { projectId: team.project.id, checkId })
  t.notRegex((await owner.get(`/incidents/${id}`)).text, /Post update/, 'without a status page')
  const path = await publish()
  const page = (await owner.get(`/incidents/${id}`)).text
  const link = /href="([^"]*status-notes\?title=Identified[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const form = (await owner.get(link)).text
  t.regex(form, /value="Identified: Shop"/)
  t.regex(form, /We have found the cause/)
  t.notRegex((await read(path)).text, /Identified: Shop/, 'nothing is public before it is posted')
})
