import test from 'ava'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join, type Team } from './people.ts'
import { createVisitor, type Visitor } from './visitor.ts'

const markup = '"><script>alert(1)</script><img src=x onerror=alert(2)>'

let app: HttpProduct
let team: Team
let owner: Visitor
let check: string

test.before(async () => {
  app = await sharedProduct()
  team = await createTeam(app, 'Acme')
  owner = await join(app, team, 'owner')
  check = await addCheck(owner, team, { name: markup, slug: 'job', tags: `${markup} plain`, desc: markup })
  const html = `<html><script>alert(3)</script><img src="http://evil.example/track"><a href="javascript:alert(4)">x</a></html>`
  const mail = `From: a@example.com\r\nSubject: ${markup}\r\nContent-Type: text/html\r\n\r\n${html}`
  await fetch(`${app.url}/ping/${check}`, { method: 'POST', body: markup, headers: { 'user-agent': markup } })
  await eventually('the ping', async () => await app.deps.db('pings').first('n'))
  await app.deps.db.raw(
    `INSERT INTO pings (check_id, slot, n, type, at, scheme, method, ua, body, subject)
     SELECT id, 2, 2, 'success', now(), 'email', '', ?, ?, ? FROM checks WHERE uuid = ?`,
    [markup, Buffer.from(mail), markup, check],
  )
  await app.deps.db.raw('UPDATE checks SET n_pings = 2 WHERE uuid = ?', [check])
  await owner.post(`/projects/${team.project.uuid}/status-page`, { title: markup, tags: '' }, '/account')
})

const pages: readonly (() => string)[] = [
  () => `/projects/${team.project.uuid}/checks`,
  () => `/projects/${team.project.uuid}/checks?q=${encodeURIComponent(markup)}`,
  () => `/checks/${check}`,
  () => `/checks/${check}/edit`,
  () => `/checks/${check}/pings/1`,
  () => `/checks/${check}/pings/2`,
  () => `/projects/${team.project.uuid}/badges`,
  () => `/projects/${team.project.uuid}/settings`,
  () => `/organisations/${team.organisationUuid}/audit`,
  () => `/sign-in?done=${encodeURIComponent(markup)}`,
]
for (const [index, path] of pages.entries())
  test(`markup of users is escaped on page ${index + 1}`, async (t) => {
    const { text } = await owner.get(path())
    t.false(text.includes('<script>alert'))
    t.false(text.includes('<img src=x'))
  })

test('the log shows the subject of a mail, or states that it is empty', async (t) => {
  const uuid = await addCheck(owner, team)
  for (const [n, subject] of [
    [1, 'Backup of "db" finished'],
    [2, ''],
  ] as const)
    await app.deps.db.raw(
      `INSERT INTO pings (check_id, slot, n, type, at, scheme, method, ua, body, subject)
       SELECT id, ?::int, ?::int, 'success', now(), 'email', '', 'Email from a@example.com', 'x', ? FROM checks WHERE uuid = ?`,
      [n, n, subject, uuid],
    )
  await app.deps.db.raw('UPDATE checks SET n_pings = 2 WHERE uuid = ?', [uuid])
  const { text } = await owner.get(`/checks/${uuid}`)
  t.regex(text, /Backup of &quot;db&quot; finished/)
  t.regex(text, /\(no subject\)/)
  t.regex(text, /Email from a@example\.com/)
})

test('the public page escapes markup and contains no ping URL', async (t) => {
  const page = await app.deps.db('status_pages').first('token')
  const { status, text, headers } = await createVisitor(app.url).get(`/status/${page?.token}`)
  t.is(status, 200)
  t.true(String(page?.token).length >= 22, '128 bits')
  t.false(text.includes('<script>alert'))
  t.false(text.includes(check))
  t.regex(text, /name="robots" content="noindex"/)
  t.regex(String(headers['content-security-policy']), /frame-ancestors 'none'/)
})

test('an unpublished status page gets the answer of an unknown one', async (t) => {
  const other = await createTeam(app, 'Other')
  const manager = await join(app, other, 'manager', 'other@example.com')
  await manager.post(`/projects/${other.project.uuid}/status-page`, { title: 'x', tags: '' }, '/account')
  const page = await app.deps.db('status_pages').where({ project_id: other.project.id }).first('token')
  await manager.post(`/projects/${other.project.uuid}/status-page/remove`, {}, '/account')
  t.is((await createVisitor(app.url).get(`/status/${page?.token}`)).status, 404)
})

test('the body of a ping is downloaded unchanged and never rendered as a page', async (t) => {
  const { text, headers } = await owner.get(`/checks/${check}/pings/1/body`)
  t.is(text, markup)
  t.regex(String(headers['content-type']), /^text\/plain/)
  t.is(headers['x-content-type-options'], 'nosniff')
  t.regex(String(headers['content-disposition']), /^attachment/)
})

test('a mail is rendered without scripts and without external resources', async (t) => {
  const { headers } = await owner.get(`/checks/${check}/pings/2/mail`)
  const policy = String(headers['content-security-policy'])
  t.regex(policy, /^sandbox;/)
  t.regex(policy, /default-src 'none'/)
  t.false(/script-src|allow-scripts|http/.test(policy))
  const page = await owner.get(`/checks/${check}/pings/2?view=html`)
  t.regex(page.text, /<iframe[^>]* sandbox(=""|[ >])/)
  t.notRegex(page.text, /<iframe[^>]*(allow-|srcdoc)/)
})

test.serial('links show the text, the layout and the source of a mail', async (t) => {
  const path = `/checks/${check}/pings/2`
  const read = async (view: string) => (await owner.get(view === 'text' ? path : `${path}?view=${view}`)).text
  const parsed = async () => {
    const { values } = await app.deps.metrics.threadTasks.get()
    const runs = values.filter(
      ({ metricName, labels }) => metricName?.endsWith('_count') && /Mail$/.test(`${labels.task}`),
    )
    return runs.reduce((sum, { value }) => sum + value, 0)
  }
  for (const view of ['text', 'html', 'source']) {
    const links = [...(await read(view)).matchAll(/<a [^>]*data-stays="(text|html|source)"[^>]*>/g)]
    t.deepEqual(
      links.map(([, name]) => name),
      ['text', 'html', 'source'],
      view,
    )
    t.deepEqual(
      links.filter(([link]) => link.includes('aria-current')).map(([, name]) => name),
      [view],
    )
  }
  const text = await read('text')
  t.regex(
    text,
    /aria-label="text of the mail"><code>x<\/code>/,
    'a mail without a plain part shows the text of its HTML',
  )
  t.regex(text, /<dt>Sender<\/dt><dd[^>]*>a@example\.com</)
  t.false(text.includes('<iframe'))
  t.regex(await read('html'), /<iframe[^>]* height="160"/, 'the frame has the height of one line')
  const before = await parsed()
  const source = await read('source')
  t.regex(source, /aria-label="source of the mail"><code>From: a@example\.com\r?\n?/)
  t.true(source.includes('Content-Type: text/html'))
  t.is(await parsed(), before, 'the source is shown without parsing')
  t.regex(await read('nonsense'), /aria-label="text of the mail"/)
})

test('only members can open a check by the link in a message', async (t) => {
  const path = `/checks/${uniqueKey(check)}`
  t.is((await owner.get(path)).headers.location, `/checks/${check}`)
  const stranger = await join(app, await createTeam(app, 'Strangers'), 'owner')
  t.is((await stranger.get(path)).status, 404)
})
