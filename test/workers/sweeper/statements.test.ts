import test from 'ava'
import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { stateDays } from '#shared/monitoring/operations/uptime.ts'
import { deleteProject } from '#shared/monitoring/projects/changes-store.ts'
import { pruneStatements, statementAge } from '#shared/monitoring/statements/statement-store.ts'
import { recordHash } from '#shared/transparency/statements/day-record.ts'
import { verifyUptime } from '#shared/transparency/statements/verify-uptime.ts'
import { createTeam, join, type Team } from '../../ingress/web/people.ts'
import type { Visitor } from '../../ingress/web/visitor.ts'
import { openBrowser } from '../../support/browser.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addKey, addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addFlip, addOldCheck, copy, DAY, failures, micros, october, type Proof, since, trusted } from './stated.ts'

let app: HttpProduct
let team: Team
let owner: Visitor
let rwKey: string

test.before(async () => {
  app = await sharedProduct({ workers: ['anchor'] })
  team = await createTeam(app, 'Acme')
  owner = await join(app, team, 'owner')
  rwKey = await addKey(app.deps, team.project.id, 'rw')
})

async function proofOf(uuid: string, from: string, until: string, key = rwKey) {
  const path = `/api/v3/checks/${uuid}/uptime-proof?from=${from}&until=${until}`
  return await send(app.url, path, { headers: { 'X-Api-Key': key } })
}

/** Returns the proof when a checkpoint covers all of it. */
async function provenOf(uuid: string, from: string, until: string): Promise<JsonObject & Proof> {
  return await eventually('a checkpoint to cover the statements', async () => {
    const proof: JsonObject & Proof = JSON.parse((await proofOf(uuid, from, until)).text)
    return proof.proofs.every(({ index }) => index !== null) ? proof : undefined
  })
}

test.serial('statements begin with the day on which a project enables them', async (t) => {
  const settings = `/projects/${team.project.uuid}/settings`
  const row = async () => (await app.db('projects').where({ id: team.project.id }).first()) ?? {}
  t.is((await row()).statements_since, null)
  t.is(await stateDays(app.db, micros(new Date(Date.now() + 2 * DAY))), 0)
  const viewer = await join(app, team, 'read-only')
  const refused = await viewer.post(`${settings}/statements`, { state: 'on' }, `/projects/${team.project.uuid}/checks`)
  t.is(refused.status, 403)
  t.is((await owner.post(`${settings}/statements`, { state: 'on' }, settings)).status, 303)
  t.true((await owner.get(settings)).text.includes(`Stated since ${new Date().toISOString().slice(0, 10)}`))
  t.is((await app.db('audit_log').where({ action: 'project.statements' }).first())?.target, 'on')
  t.is(await statementAge(app.db, micros(new Date())), 0)
  t.is((await owner.post(`${settings}/statements`, {}, settings)).status, 303)
  t.is((await row()).statements_since, null)
})

test.serial('several processes state each day once, after 00:15, with a proof that verifies offline', async (t) => {
  const { project } = team
  const check = await addOldCheck(app, project.id, 'db-backup')
  await addOldCheck(app, project.id, 'another')
  await addFlip(app, check.id, october(2, 3), 'up', 'down')
  await addFlip(app, check.id, october(2, 4), 'down', 'up')
  await app.db('unknown_periods').insert({
    check_id: check.id,
    gap_from: october(3, 5),
    gap_until: october(3, 6),
    from_at: october(3, 5),
    until_at: new Date(october(3, 5).getTime() + 31 * 60_000),
    expected_at: october(3, 5),
    deadline_extended_at: october(3, 6),
    reason: 'GAP',
  })
  await since(app, project.id, october(1))
  t.is(await stateDays(app.db, micros(new Date(october(2).getTime() + 14 * 60_000))), 0, 'a ping may be on its way')
  const now = micros(october(5))
  t.true((await statementAge(app.db, now)) > 2 * 86_400)
  for (let left = 1; left > 0; ) {
    const [one = 0, other = 0] = await Promise.all([stateDays(app.db, now), stateDays(app.db, now)])
    left = one + other
  }
  const stated = await app.db('uptime_statements').where({ project_id: project.id }).orderBy('id')
  t.deepEqual(
    stated.map(({ statement }) => statement.date),
    ['2025-10-01', '2025-10-02', '2025-10-03'],
    'the fourth is open until a quarter past midnight',
  )

  const proof = await provenOf(check.uuid, '2025-10-01', '2025-10-03')
  t.is(proof.records.length, 3)
  t.like(proof.records[1], { check: uniqueKey(check.uuid), first: 'up', up: 82_800, down: 3_600 })
  t.is(proof.statements[1]?.records.length, 2, 'it contains the number of checks')
  t.false(JSON.stringify(proof.statements).includes('db-backup'))
  t.false(JSON.stringify(proof).includes(check.uuid))
  const policy = await trusted(app.url)
  const { result, checks } = verifyUptime(proof, policy)
  t.is(result, 'VERIFIED')
  t.is(
    checks[0]?.detail,
    'db-backup was up 98.60 % of the known time from 2025-10-01 to 2025-10-03 (unknown: 31 minutes)',
  )
  t.is(checks[1]?.detail, 'the daily statements are unchanged; the proof does not show that they were true')
  t.is(verifyUptime(proof).result, 'PARTIAL', 'without a key the proof could be forged')
  for (const { anchor } of stated.map(({ statement }) => statement)) {
    const entry = await app
      .db('log_entries')
      .where({ leaf_hash: Buffer.from(anchor.txId, 'hex') })
      .first()
    t.is(entry.env, 'PRODUCTION')
    t.deepEqual(Object.keys(JSON.parse(entry.entry.toString())).toSorted(), [
      'eventType',
      'payloadSha256',
      'timestamp',
      'v',
    ])
  }

  const altered = copy(proof)
  const flip = altered.records[1]?.flips[0]
  if (flip) flip[0] = '2025-10-02T03:59:00+00:00'
  const [failure] = failures(altered, policy)
  t.is(verifyUptime(altered, policy).result, 'FAILED')
  t.true(failure?.detail.startsWith('2025-10-02: '), 'the result names the day')

  const rehashed = copy(altered)
  const [before, day] = [recordHash(proof.records[1] ?? {}), rehashed.statements[1]]
  if (day) day.records = day.records.map((hash) => (hash === before ? recordHash(rehashed.records[1] ?? {}) : hash))
  t.deepEqual(
    failures(rehashed, policy).map(({ name, detail }) => [name, detail.slice(0, 10)]),
    [
      ['record', '2025-10-02'],
      ['payload', '2025-10-02'],
      ['entry', '2025-10-02'],
    ],
    'nor can the statement be altered with it',
  )
  const holed = copy(proof)
  holed.statements.splice(1, 1)
  holed.proofs.splice(1, 1)
  holed.records.splice(1, 1)
  t.deepEqual(
    failures(holed, policy).map(({ code, detail }) => [code, detail.slice(0, 10)]),
    [['CHAIN_BROKEN', '2025-10-03']],
  )
  const withheld = copy(proof)
  withheld.records.splice(1, 1)
  t.is(verifyUptime(withheld, policy).result, 'PARTIAL')
  t.true(JSON.stringify(verifyUptime(withheld, policy)).includes('no record of this check for 2025-10-02'))
})

test.serial('a late flip adds a correction, which no proof can omit', async (t) => {
  const { project } = team
  const check = await addOldCheck(app, project.id, 'late')
  await since(app, project.id, october(1))
  // The open day, without a correction: the flip is older than the look-back period.
  await stateDays(app.db, micros(october(5, 2)))
  const before = await app.db('uptime_statements').where({ project_id: project.id })
  await addFlip(app, check.id, october(4, 6), 'up', 'down')
  await stateDays(app.db, micros(october(6, 2)))
  const stated = await app.db('uptime_statements').where({ project_id: project.id }).orderBy('id')
  const added = stated.slice(before.length).map(({ statement }) => statement)
  t.deepEqual(
    added.map(({ date, corrects }) => [date, corrects]),
    [
      ['2025-10-04', before.at(-1)?.statement.anchor.txId],
      ['2025-10-05', null],
    ],
  )
  t.deepEqual(
    stated.slice(0, before.length).map(({ statement }) => statement),
    before.map(({ statement }) => statement),
  )
  t.is(added[0].records.length, before.at(-1)?.statement.records.length, 'a correction concerns every check')
  t.is(await stateDays(app.db, micros(october(7, 2))), 1)
  t.is((await app.db('uptime_statements').where({ project_id: project.id, is_correction: true })).length, 1, 'and once')

  const proof = await provenOf(check.uuid, '2025-10-04', '2025-10-04')
  t.is(proof.records.length, 2)
  const { result, checks } = verifyUptime(proof, await trusted(app.url))
  t.is(result, 'VERIFIED')
  t.is(checks[0]?.detail, 'late was up 25 % of the known time on 2025-10-04')
  const without = copy(proof)
  without.records.splice(1, 1)
  t.is(
    verifyUptime(without, await trusted(app.url)).result,
    'PARTIAL',
    'the part of the correction about this check is missing',
  )
})

test.serial('the verification page recomputes the file and names the altered day', async (t) => {
  const check = await app.db('checks').where({ name: 'late' }).first('uuid')
  const proof = await provenOf(check.uuid, '2025-10-04', '2025-10-05')
  await using browser = await openBrowser()
  const page = await browser.context.newPage()
  const verified = async (file: object) => {
    await page.goto(`${app.url}/verify`)
    await page.getByLabel('or paste the JSON').fill(JSON.stringify(file))
    await page.getByRole('button', { name: 'Verify' }).click()
    const report = page.locator('[data-report]')
    await report.getByRole('heading').waitFor()
    return await report.innerText()
  }
  const good = await verified(proof)
  t.true(good.startsWith('Verified'), good)
  t.true(good.includes('late was up 12.5 % of the known time from 2025-10-04 to 2025-10-05.'), good)
  t.regex(good, /The checkpoint is signed by/)
  const altered = copy(proof)
  for (const record of altered.records) if (record.flips[0]) record.flips[0][0] = '2025-10-04T23:00:00+00:00'
  const bad = await verified(altered)
  t.true(bad.startsWith('Not verified'), bad)
  t.true(bad.includes('2025-10-04: the record is not in the statement of its day: it was changed.'), bad)
  const [first, ...rest] = copy(proof).statements
  const forged = await verified({ ...proof, statements: [{ ...first, gaps: [['x', null]] }, ...rest] })
  t.true(forged.includes('2025-10-04: the statement differs from the logged one: it was changed.'), forged)
})

test.serial('a proof requires a read-write key and a range of at most 92 days', async (t) => {
  const foreign = await addProject(app.deps)
  const check = await addCheck(app.deps, foreign.project.id, { name: 'foreign' })
  const status = async (...args: Parameters<typeof proofOf>) => (await proofOf(...args)).status
  t.is(await status(check.uuid, '2025-10-01', '2025-10-02', foreign.roKey), 401)
  t.is(await status(check.uuid, '2025-10-01', '2025-10-02'), 403)
  const own = await proofOf(check.uuid, '2025-10-01', '2025-12-31', foreign.rwKey)
  t.like(jsonOf(own), { name: 'foreign', statements: [], records: [], proofs: [] })
  const refused = [
    ['', '2025-10-02', 'from must be a date YYYY-MM-DD'],
    ['2025-02-30', '2025-10-02', 'from must be a date YYYY-MM-DD'],
    ['2025-10-02', '2025-10-01', 'until must not be before from'],
    ['2025-10-01', '2026-01-01', 'until must be within 92 days of from'],
  ] as const
  for (const [from, until, text] of refused) {
    const answer = await proofOf(check.uuid, from, until, foreign.rwKey)
    t.is(answer.status, 400)
    t.deepEqual(jsonOf(answer), { error: `json validation error: ${text}` })
  }
})

test.serial('the page of a check offers monthly files, and the sweeper writes daily statements', async (t) => {
  const { project } = team
  const check = await addCheck(app.deps, project.id, { name: 'swept' })
  const yesterday = new Date(Date.now() - 2 * DAY)
  await app.db('checks').where({ id: check.id }).update({ created_at: yesterday })
  await app.db('uptime_statements').where({ project_id: project.id }).delete()
  await since(app, project.id, yesterday)
  await using _ = await app.workers(['sweeper'])
  const date = yesterday.toISOString().slice(0, 10)
  await eventually('the day before yesterday to be stated', async () =>
    (await app.db('uptime_statements').where({ project_id: project.id })).find(
      ({ statement }) => statement.date === date,
    ),
  )
  const page = await owner.get(`/checks/${check.uuid}`)
  const month = date.slice(0, 7)
  t.true(page.text.includes(`/checks/${check.uuid}/uptime-proof?month=${month}`))
  const file = await owner.get(`/checks/${check.uuid}/uptime-proof?month=${month}`)
  t.is(file.status, 200)
  t.is(JSON.parse(file.text).records[0]?.date, date)
  t.is((await owner.get(`/checks/${check.uuid}/uptime-proof?month=soon`)).status, 404)
})

test.serial('statements expire after 400 days or with their project; log entries stay', async (t) => {
  const { project } = await addProject(app.deps)
  await addOldCheck(app, project.id, 'gone')
  await since(app, project.id, october(1))
  await stateDays(app.db, micros(october(2, 2)))
  const [stated] = await app.db('uptime_statements').where({ project_id: project.id })
  await app.db.transaction((tx) => deleteProject(tx, project.id))
  t.is((await app.db('uptime_statements').where({ id: stated.id })).length, 0)
  t.is((await app.db('uptime_statement_records').where({ statement_id: stated.id })).length, 0)
  const leaf = Buffer.from(stated.statement.anchor.txId, 'hex')
  t.is((await app.db('log_entries').where({ leaf_hash: leaf })).length, 1)

  const kept = (await addProject(app.deps)).project
  await since(app, kept.id, october(1))
  await stateDays(app.db, micros(october(2, 2)))
  const count = async () => (await app.db('uptime_statements').where({ project_id: kept.id })).length
  await pruneStatements(app.db, 40_000)
  t.is(await count(), 1)
  await pruneStatements(app.db, 400)
  t.is(await count(), 0)
})
