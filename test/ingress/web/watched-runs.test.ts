import { randomUUID } from 'node:crypto'
import test from 'ava'
import { type HttpProduct, openProduct } from '../../support/product.ts'
import { addCheck, createTeam, join } from './people.ts'

const before = (minutes: number) => new Date(Date.now() - minutes * 60_000)

async function addRun(
  db: HttpProduct['db'],
  run: { check: number; n: number; from: number; until?: number; outcome: string; deadline?: number; flags?: string[] },
): Promise<void> {
  const { check, n, from, until, outcome, deadline, flags = [] } = run
  await db('runs').insert({
    check_id: check,
    slot: n,
    n,
    rid: randomUUID(),
    source: '',
    started_at: before(from),
    finished_at: until === undefined ? null : before(until),
    duration_us: until === undefined ? null : (from - until) * 60_000_000,
    outcome,
    deadline: deadline === undefined ? null : before(deadline),
    flags,
  })
}

test('watched runs are drawn in lanes with deadlines, flags and gaps', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const { db } = app
  const team = await createTeam(app, 'Runs')
  const owner = await join(app, team, 'owner')
  const uuid = await addCheck(owner, team, { name: 'nightly' })
  const { id } = await db('checks').where({ uuid }).first('id')
  const page = async () => (await owner.get(`/checks/${uuid}`)).text
  t.notRegex(await page(), /<svg class="chart lanes"/)

  await db('checks').where({ id }).update({ rule_bits: 1, status: 'up', n_pings: 4 })
  const run = { watch: 'each', max: 7200, overlap: 'allow', open: 20, fail_on: [] }
  const none = { start_grace: null, alive: null, min: null, spacing: null, early: null, slow: null }
  await db('check_rules').insert({ check_id: id, run: JSON.stringify({ ...run, ...none }) })
  await addRun(db, { check: id, n: 1, from: 100, until: 80, outcome: 'success' })
  const lanes = async () => /<svg class="chart lanes".*?<\/svg>/s.exec(await page())?.[0] ?? ''
  t.regex(await lanes(), /No two runs overlapped/)
  t.notRegex(await lanes(), /class="(hatch|limit)"/)

  await addRun(db, { check: id, n: 2, from: 90, until: 60, outcome: 'fail', flags: ['OVERLAP', 'SLOW'] })
  await addRun(db, { check: id, n: 3, from: 50, outcome: 'open', deadline: -70 })
  await addRun(db, { check: id, n: 4, from: 40, outcome: 'open', deadline: 10 })
  await db('coverage_gaps').insert({
    listener: 'http',
    shards: -1,
    from_at: before(75),
    until_at: before(65),
    kind: 'full',
    cause: 'process lost',
  })
  const drawn = await lanes()
  t.regex(drawn, /at most 2 at once\. Pings could not be received once\./)
  t.is(drawn.match(/<rect /g)?.length, 4)
  t.is(drawn.match(/<path class="hatch"/g)?.length, 1)
  t.is(drawn.match(/<path class="limit"/g)?.length, 2)
  t.regex(drawn, /class="bar failed flagged"/)
  t.regex(drawn, /began while another one ran, much slower than usual/)
  const words = (await page()).replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')
  t.regex(words, /Flagged runs\s*[-\d: ]+: not done in time/)
})

test('days with excluded maintenance are hatched on the page and list', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const { db } = app
  const team = await createTeam(app, 'Days')
  const owner = await join(app, team, 'owner')
  const uuid = await addCheck(owner, team, { name: 'nightly' })
  const { id } = await db('checks').where({ uuid }).first('id')
  const [begin, noon] = [
    before(10 * 1440),
    new Date(
      `${before(3 * 1440)
        .toISOString()
        .slice(0, 10)}T12:00:00Z`,
    ),
  ]
  await db('checks').where({ id }).update({ created_at: begin, status: 'up', n_pings: 1, last_ping: new Date() })
  await db('flips').insert({ check_id: id, at: begin, from_status: 'new', to_status: 'up', processed_at: begin })
  const pages = async () => [
    (await owner.get(`/checks/${uuid}`)).text,
    (await owner.get(`/projects/${team.project.uuid}/checks`)).text,
  ]
  for (const html of await pages()) t.notRegex(html, /class="hatch/)
  await db('maintenance_windows').insert({
    uuid: randomUUID(),
    project_id: team.project.id,
    name: 'Patches',
    match: '*',
    starts_at: noon,
    ends_at: new Date(noon.getTime() + 3_600_000),
    uptime: 'exclude',
    shown: false,
  })
  for (const html of await pages()) {
    t.is(html.match(/class="hatch of-plan"/g)?.length, 1)
    t.regex(html, /No outage in \d+ days\. Maintenance on 1 day\./)
  }
  await db('unknown_periods').insert({
    check_id: id,
    gap_from: noon,
    gap_until: noon,
    from_at: noon,
    until_at: new Date(noon.getTime() + 60_000),
    expected_at: noon,
    reason: 'GAP',
  })
  for (const html of await pages()) t.regex(html, /class="hatch"/, 'unknown time is hatched as well')
})

test('each change in the log of a check links to the reasons of its notifications', async (t) => {
  await using app = await openProduct({ listener: 'http' })
  const { db } = app
  const team = await createTeam(app, 'Why')
  const owner = await join(app, team, 'owner')
  const uuid = await addCheck(owner, team, { name: 'nightly' })
  const { id } = await db('checks').where({ uuid }).first('id')
  const now = new Date()
  const flip = { check_id: id, at: now, from_status: 'up', to_status: 'down', processed_at: now }
  const [down, other] = await db('flips').insert([flip, flip]).returning('id')
  const incident = randomUUID()
  const decision = {
    check_id: id,
    at: now,
    outcome: 'suppressed',
    reason: 'DOWN_FOR',
    incident_id: null,
    flip_id: null,
  }
  await db('alert_decisions').insert([
    { ...decision, flip_id: down.id, incident_id: incident, outcome: 'suppressed', reason: 'FAILURES' },
    { ...decision, incident_id: incident, outcome: 'notified', reason: 'FIRST' },
    { ...decision, flip_id: other.id, outcome: 'none', reason: 'RESUMED' },
  ])
  const page = async (query = '') => (await owner.get(`/checks/${uuid}${query}`)).text
  const link = new RegExp(`href="/checks/${uuid}\\?why=${down.id}#why"`)
  t.regex(await page(), link)
  t.regex(await page(), /Not notified: it was resumed\./)
  const requested = await page(`?why=${down.id}`)
  t.regex(requested, /id="why"/)
  t.regex(requested, /Notified: the conditions of the policy were met\..*Not notified: too few failures\./s)
  t.notRegex(requested, /it was resumed/)
  t.regex(await page('?why=999999'), /No decision about this change is stored/)
})
