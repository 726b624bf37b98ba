import { randomUUID } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { execute } from '#shared/platform/database/sql.ts'
import { renderPackPdf } from '#shared/risk/packs/pdf/render.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { pdfInput } from '../shared/risk/packs/pdf-input.ts'
import { watchLoop } from '../support/main-thread.ts'
import { type HttpProduct, openProduct } from '../support/product.ts'
import { addCheck, addIntegration, addProject } from '../support/projects.ts'
import { jsonOf, send } from '../support/send.ts'
import { createTeam, join as joinTeam } from './web/people.ts'

/** No request may hold the loop for longer than 50 ms; what tests add in this same process is allowed for. */
const MAX_BLOCKED_MS = 100

let app: HttpProduct
test.before(async () => {
  app = await openProduct({ listener: 'http', env: { CHECKPOINT_DIR: await mkdtemp(join(tmpdir(), 'checkpoints-')) } })
})
test.after.always(() => app?.[Symbol.asyncDispose]())

/** Runs it once to warm up, then once more watched. @returns the longest time that the loop was held */
async function held(work: () => Promise<void>): Promise<number> {
  await work()
  const loop = watchLoop()
  await work()
  loop.stop()
  return loop.longestMs()
}

/** A check with one ping: a mail of this body. */
async function addMail(projectId: number, body: Buffer): Promise<string> {
  const check = await addCheck(app.deps, projectId)
  await execute(
    app.deps.db,
    `INSERT INTO pings (check_id, slot, n, type, at, scheme, method, ua, body) VALUES (?, 1, 1, 'success', now(), 'email', '', '', ?)`,
    [check.id, body],
  )
  await execute(app.deps.db, 'UPDATE checks SET n_pings = 1 WHERE id = ?', [check.id])
  return `/checks/${check.uuid}/pings/1`
}

test.serial('the page of a mail of line ends does not block others, and shows the first of it', async (t) => {
  const team = await createTeam(app, 'mails')
  const member = await joinTeam(app, team, 'member', 'mails@example.com')
  const raw = Buffer.concat([
    Buffer.from('Subject: endless\r\nFrom: A <a@example.org>\r\n\r\n'),
    Buffer.alloc(8_000_000, '\r\n'),
  ])
  const path = await addMail(team.project.id, raw)
  const longest = await held(async () => {
    const ends = ['', '?view=html', '?view=source', '/mail', '/body']
    const [text, html, source, mail, download] = await Promise.all(ends.map((end) => member.get(path + end)))
    t.regex(text?.text ?? '', /The beginning of this mail has no text\.[\s\S]*endless[\s\S]*a@example\.org/)
    t.regex(html?.text ?? '', /The beginning of this mail has no HTML\./)
    t.regex(source?.text ?? '', /The first 100,000 of 8,0\d\d,\d{3} bytes/)
    for (const page of [text, html, source]) t.true((page?.bytes.length ?? 0) < 600_000)
    t.is(mail?.status, 200)
    t.true(download?.bytes.equals(raw))
  })
  t.true(longest < MAX_BLOCKED_MS, `the loop was held for ${longest} ms`)
})

test.serial('a mail is shown as its sender laid it out', async (t) => {
  const team = await createTeam(app, 'html')
  const member = await joinTeam(app, team, 'member', 'html@example.com')
  const html = await addMail(
    team.project.id,
    Buffer.from('Subject: =?utf-8?Q?gr=C3=BCn?=\r\nContent-Type: text/html\r\n\r\n<p>all <b>done</b>'),
  )
  t.regex((await member.get(html)).text, /grün/)
  t.regex((await member.get(`${html}/mail`)).text, /<p>all <b>done<\/b>/)
  const plain = await addMail(team.project.id, Buffer.from('Subject: x\r\n\r\n1 < 2'))
  t.regex((await member.get(`${plain}/mail`)).text, /<pre>1 &#60; 2/)
})

test.serial('the longest accepted list of integrations does not block other requests', async (t) => {
  const { project, rwKey } = await addProject(app.deps)
  await execute(
    app.deps.db,
    `INSERT INTO integrations (project_id, kind, name, sealed_config) SELECT ?, 'email', 'channel ' || n, '' FROM generate_series(1, 1000) n`,
    [project.id],
  )
  const last = await addIntegration(app.deps, project.id, 'z')
  const body = JSON.stringify({ channels: Array(1_000).fill('z').join(',') })
  const longest = await held(async () => {
    const answer = await send(app.url, '/api/v3/checks/', { method: 'POST', headers: { 'X-Api-Key': rwKey }, body })
    t.is(answer.status, 201)
    t.like(jsonOf(answer), { channels: last.uuid })
  })
  t.true(longest < MAX_BLOCKED_MS, `the loop was held for ${longest} ms`)
})

test.serial('lists, badges and metrics of 5,000 checks do not block other requests', async (t) => {
  const { project, rwKey, roKey } = await addProject(app.deps)
  await execute(
    app.deps.db,
    `INSERT INTO checks (project_id, name, tags, description, kind, timeout_seconds, grace_seconds, schedule, tz, status, last_ping)
     SELECT ?, 'check ' || n, 'a b c' || n % 50, repeat('x', 2000), 'cron', 60, 60, '*/5 8-18 * * 1-5', 'Europe/Riga', 'up', now()
     FROM generate_series(1, 5000) n`,
    [project.id],
  )
  const badges = jsonOf(await send(app.url, '/api/v3/badges/', { headers: { 'X-Api-Key': roKey } })) as {
    badges: Record<string, { json: string }>
  }
  const longest = await held(async () => {
    const answers = await Promise.all([
      send(app.url, '/api/v3/checks/', { headers: { 'X-Api-Key': rwKey } }),
      send(app.url, `/projects/00000000-0000-4000-8000-000000000000/metrics/${roKey}`),
      ...['*', 'a', 'c7'].map((tag) => send(app.url, String(badges.badges[tag]?.json).slice(app.url.length))),
    ])
    t.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    )
    t.is((jsonOf(answers[0] ?? answers[1]) as { checks: object[] }).checks.length, 5_000)
    t.like(jsonOf(answers[4] ?? answers[1]), { total: 100 })
  })
  t.true(longest < MAX_BLOCKED_MS, `the loop was held for ${longest} ms`)
})

test.serial('verifying an object of 90,000 members does not block other requests', async (t) => {
  const object = Object.fromEntries(Array.from({ length: 90_000 }, (_, n) => [`m${n}`, 0]))
  const body = JSON.stringify({ object })
  const verified: unknown[] = []
  const longest = await held(async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await send(app.url, '/v1/anchors/verify', { method: 'POST', headers, body })
    t.is(answer.status, 200)
    verified.push(jsonOf(answer))
  })
  t.true(longest < MAX_BLOCKED_MS, `the loop was held for ${longest} ms`)
  t.like(verified[0], { result: 'FAILED', payloadSha256: payloadSha256(object) })
})

test.serial('drawing a pack does not block other requests', async (t) => {
  const input = await pdfInput()
  const longest = await held(async () => {
    const drawn = await app.deps.threads.run('renderPackPdf', input)
    t.true(drawn.length > 10_000)
  })
  t.true(longest < MAX_BLOCKED_MS, `the loop was held for ${longest} ms`)
  t.deepEqual(Buffer.from(await app.deps.threads.run('renderPackPdf', input)), await renderPackPdf(input))
})

test.serial('reading and comparing an import of 5,000 checks does not block other requests', async (t) => {
  const { rwKey } = await addProject(app.deps, { checkLimit: 5_000 })
  const checks = Array.from({ length: 5_000 }, (_, n) => ({
    uuid: randomUUID(),
    name: `check ${n}`,
    tags: 'a b c',
    schedule: '*/5 8-18 * * 1-5',
    tz: 'Europe/Riga',
  }))
  const body = JSON.stringify({ version: 1, channels: [], checks })
  const longest = await held(async () => {
    const headers = { 'X-Api-Key': rwKey }
    const answer = await send(app.url, '/api/v3/import?plan=1', { method: 'POST', headers, body })
    t.is(answer.status, 200)
  })
  t.true(longest < MAX_BLOCKED_MS, `the loop was held for ${longest} ms`)
})

test.serial('a body of too many values is refused without blocking the event loop', async (t) => {
  const { rwKey } = await addProject(app.deps)
  const body = `{"name": "long", "more": [${'0,'.repeat(1_300_000)}0]}`
  const longest = await held(async () => {
    const headers = { 'X-Api-Key': rwKey }
    const answer = await send(app.url, '/api/v3/checks/', { method: 'POST', headers, body })
    t.is(answer.status, 400)
  })
  t.true(longest < MAX_BLOCKED_MS, `the loop was held for ${longest} ms`)
})
