import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createMetrics } from '#shared/platform/process/metrics.ts'
import { quotaNotices } from '../../../workers/sweeper/sweeps/quota-notices.ts'
import { adminOf } from '../../support/admin.ts'
import { eventually } from '../../support/eventually.ts'
import { openProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { openSmtpSink } from '../../support/smtp-sink.ts'
import { addCheck, createTeam, join } from '../web/people.ts'

test('the page of a check shows the number of unlogged pings with reasons', async (t) => {
  const now = Date.now() * 1000
  await using app = await openProduct({
    listener: 'http',
    env: { PING_RATE_LIMIT_PER_MINUTE: '2' },
    override: { now: () => now, metrics: createMetrics() },
  })
  const team = await createTeam(app, 'Limited')
  const owner = await join(app, team, 'owner')
  const uuid = await addCheck(owner, team)
  for (let i = 0; i < 5; i++) await send(app.url, `/ping/${uuid}`)
  const page = await eventually('the page to show it', async () => {
    const { text } = await owner.get(`/checks/${uuid}`)
    return /3 pings were not logged/.test(text) ? text : undefined
  })
  t.regex(page, /3 pings were not logged since/)
  t.regex(page, /more often than the limit of 2 a minute allows/)
})

test('the page of an ignored ping shows why it was ignored', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Ignored')
  const owner = await join(app, team, 'owner')
  for (const [reason, settings, request] of [
    ['only POST counts for this check', { post_only: '1' }, {}],
    ['it held none of the keywords', { filter_http_body: '1', success_kw: 'done' }, { method: 'POST', body: 'what' }],
    [
      'its JSON lacks the member that is searched for keywords',
      { filter_http_body: '1', filter_json: '/status', success_kw: 'done' },
      { method: 'POST', body: '{"state":"done"}' },
    ],
    ['the check was paused, to be resumed by hand', { manual_resume: '1' }, {}],
  ] as const) {
    const uuid = await addCheck(owner, team, settings)
    if ('manual_resume' in settings) await owner.post(`/checks/${uuid}/pause`, {}, `/checks/${uuid}`)
    await send(app.url, `/ping/${uuid}`, request)
    t.true((await owner.get(`/checks/${uuid}`)).text.includes(reason), reason)
    t.true((await owner.get(`/checks/${uuid}/pings/1`)).text.includes(`ignored: ${reason}`), reason)
  }
  const filters = { filter_http_body: '1', filter_json: '/status', filter_else: '1', failure_kw: 'firing' }
  const hooked = await addCheck(owner, team, filters)
  t.true(
    (await owner.get(`/checks/${hooked}`)).text.includes(
      'Fails if /status contains &quot;firing&quot;; otherwise the URL decides.',
    ),
  )
  const form = (await owner.get(`/checks/${hooked}/edit`)).text
  t.regex(form, /name="filter_json" value="\/status"/)
  t.regex(form, /name="filter_else"[^>]* checked/)
  const uuid = await addCheck(owner, team)
  await send(app.url, `/ping/${uuid}`)
  t.false((await owner.get(`/checks/${uuid}`)).text.includes('ignored'))
})

test('the ping key shows when a ping by slug used it last, in the page and on the command line', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const team = await createTeam(app, 'Keys')
  const owner = await join(app, team, 'owner')
  const keys = `/projects/${team.project.uuid}/keys`
  await owner.post(keys, { key_name: 'cron', kind: 'ping' })
  const [, pingKey = ''] = /<code>([\w-]{22})<\/code>/.exec((await owner.get(keys)).text) ?? []
  const uuid = await addCheck(owner, team, { slug: 'job' })
  const admin = adminOf(app.deps)
  const page = async () => /used<\/span> (.*?)<\/td>/.exec((await owner.get(keys)).text)?.[1] ?? ''
  const listed = async () => (await admin('key', 'list', '--project', team.project.uuid)).stdout
  await send(app.url, `/ping/${uuid}`)
  t.regex(await page(), /never/)
  t.regex(await listed(), /ping .* used never/)
  t.is((await send(app.url, `/ping/${pingKey}/job`)).status, 200)
  await eventually('the use to be stored', async () => /<time/.test(await page()))
  const { stdout } = await admin('key', 'list', '--project', team.project.uuid, '--json')
  const [key] = JSON.parse(stdout)
  t.true(Date.now() - Date.parse(key.lastUsedAt) < 60_000, stdout)
  t.regex(await listed(), /ping .* used \d{4}-\d\d-\d\d/)
})

test('a leaked ping key creates at most twice the limit of checks, and owners are notified once', async (t) => {
  await using sink = await openSmtpSink()
  await using product = await openProduct({ env: { SMTP_URL: sink.url } })
  t.is(product.config.checkLimit, 1000)
  const { base } = await product.ingress()
  const project = await product.project()
  for (const [role, email] of [
    ['owner', 'refused@example.org'],
    ['owner', 'owner@example.org'],
    ['member', 'member@example.org'],
  ]) {
    await product.db.raw(
      `WITH u AS (INSERT INTO users (email, name, password_hash) VALUES (?, '', '') RETURNING id)
       INSERT INTO memberships (organisation_id, user_id, role) SELECT ?, id, ? FROM u`,
      [String(email), project.organisationId, String(role)],
    )
  }
  await product.db.raw(
    `INSERT INTO checks (project_id, name, slug) SELECT ?, 's' || n, 's' || n FROM generate_series(1, 1990) AS n`,
    [project.id],
  )
  const statuses: number[] = []
  for (let i = 0; i < 30; i++) {
    statuses.push((await fetch(`${base}/ping/${project.pingKey}/${randomUUID()}?create=1`)).status)
  }
  t.deepEqual([statuses.filter((it) => it === 201).length, statuses.filter((it) => it === 404).length], [10, 20])
  const refused = await fetch(`${base}/api/v3/checks/`, {
    method: 'POST',
    headers: { 'X-Api-Key': project.apiKey },
    body: '{}',
  })
  t.is(refused.status, 403)

  // The mail server refuses the first owner for good, and then delays the second one.
  sink.refuse = (attempt) =>
    attempt % 2 === 1 ? { code: 550, at: 'RCPT' } : attempt === 2 ? { code: 451, at: 'DATA' } : null
  const deps = await product.workers([])
  for (let i = 0; i < 3; i++)
    await quotaNotices.run({ deps, barriers: { answering: async () => new Set<number>() }, now: 0 })
  t.deepEqual(
    sink.mails.map(({ to }) => to),
    [['owner@example.org']],
  )
  t.regex(String(sink.mails[0]?.raw), /has reached its limit of 1000 checks/)
  const audit = await product.db('audit_log').where({ action: 'project.check-limit-reached' })
  t.is(audit.length, 1)
})
