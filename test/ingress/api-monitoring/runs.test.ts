import test from 'ava'
import { z } from 'zod'
import { BUCKETS } from '#shared/monitoring/rules/run.ts'
import { query } from '#shared/platform/database/sql.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addProject } from '../../support/projects.ts'
import { type Answer, jsonOf as anyJson, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const A = '00000000-0000-4000-8000-00000000000a'
const B = '00000000-0000-4000-8000-00000000000b'
const jsonOf = (answer: Answer) => z.record(z.string(), z.unknown()).parse(anyJson(answer))

async function watched(rules: object) {
  const { project, rwKey, roKey } = await addProject(app.deps)
  const check = await addCheck(app.deps, project.id, { name: 'backup', timeoutSeconds: 3600, graceSeconds: 60 })
  const call = (path: string, body?: object) =>
    send(app.url, `/api/v3/checks/${check.uuid}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'X-Api-Key': rwKey },
      ...(body && { body: JSON.stringify(body) }),
    })
  const set = await call('/rules', rules)
  const ping = (path: string) => send(app.url, `/ping/${check.uuid}${path}`)
  return { project, check, roKey, call, set, ping }
}

test('every run is a row with its outcome, its length and its deadline', async (t) => {
  const { call, ping, set } = await watched({ run: { watch: 'each', max: 7200 } })
  t.is(set.status, 200)
  await ping(`/start?rid=${A}`)
  await ping(`/start?rid=${B}`)
  await ping(`?rid=${B}`)
  const { runs, next } = jsonOf(await call('/runs/'))
  t.like(runs, [
    { rid: B, outcome: 'success', flags: [] },
    { rid: A, outcome: 'open', finished: null, duration: null },
  ])
  t.is(next, null)
  t.like(jsonOf(await call('/runs/stats')), { count: 1, missed: 0, streak: 1, open: 1 })
  const first = jsonOf(await call('/runs/?limit=1'))
  t.like(jsonOf(await call(`/runs/?before=${first.next}`)), { runs: [{ rid: A }], next: null })
  t.like(jsonOf(await call('/runs/?limit=0')), { error: 'json validation error: limit must be between 1 and 100' })
  t.like(jsonOf(await call('')), { started: true, status: 'up' })
})

test('a check without rules has no runs and no additional members', async (t) => {
  const { call, ping } = await watched({ severity: 'info' })
  await ping('/start')
  await ping('')
  t.deepEqual(jsonOf(await call('/runs/')), { runs: [], next: null })
  t.false('rules' in jsonOf(await call('')))
})

test('a change of settings or rules moves the deadline at once; without the rule the grace time holds again', async (t) => {
  const { check, call, ping } = await watched({ run: { watch: 'each', max: 7200 } })
  await ping(`/start?rid=${A}`)
  const deadline = async () => {
    await call('')
    const [row] = await query<{ seconds: number }>(
      app.deps.db,
      'SELECT extract(epoch FROM alert_after - last_start)::int AS seconds FROM checks WHERE id = ?',
      [check.id],
    )
    return row?.seconds
  }
  t.is(await deadline(), 7200)
  await call('', { grace: 120 })
  t.is(await deadline(), 7200)
  await call('/rules', { run: null })
  t.is(await deadline(), 120)
})

test('a pause abandons open runs', async (t) => {
  const { call, ping } = await watched({ run: { watch: 'each', max: 7200 } })
  await ping(`/start?rid=${A}`)
  await call('')
  await call('/pause', {})
  t.like(jsonOf(await call('/runs/')), { runs: [{ rid: A, outcome: 'abandoned' }] })
})

test('rules of runs and sources are checked in the order of the specification', async (t) => {
  const wrong: [object, string][] = [
    [{ run: { max: 59 } }, 'run.max must be between 60 and 31536000 seconds'],
    [{ run: { watch: 'all' } }, 'run.watch must be one of last, each'],
    [{ run: { open: 101 } }, 'run.open must be between 1 and 100'],
    [
      { run: { fail_on: ['SLOW', 'LATE'] } },
      'run.fail_on[1] must be one of TOO_SHORT, TOO_OFTEN, OUTSIDE_SCHEDULE, OVERLAP, SLOW, OVERRUN, UNKNOWN',
    ],
    [{ run: { maximum: 60 } }, 'run.maximum is not a known member'],
    [{ run: 1 }, 'run must be an object'],
    [{ sources: { by: 'cookie', expect: 2 } }, 'sources.by must be one of query, header, address'],
    [{ sources: { by: 'query' } }, 'sources.expect is required'],
    [{ sources: { by: 'query', expect: ['a b'] } }, 'sources.expect[0] must be the name of a source'],
    [
      { sources: { by: 'query', expect: 2, need: 3 } },
      'sources.need must be at most 2, the number of expected sources',
    ],
  ]
  const { call } = await watched({})
  for (const [body, text] of wrong)
    t.deepEqual(jsonOf(await call('/rules', body)), { error: `json validation error: ${text}` })
})

test('metrics contain lengths and missed runs only on request', async (t) => {
  const { project, call, ping, roKey } = await watched({ run: { max: 7200 } })
  await ping(`/start?rid=${A}`)
  await ping(`?rid=${A}`)
  await call('')
  const plain = await send(app.url, `/projects/${project.uuid}/metrics/${roKey}`)
  t.false(plain.text.includes('signalbox_'))
  const { text } = await send(app.url, `/projects/${project.uuid}/metrics/${roKey}?runs=1`)
  t.true(text.startsWith(plain.text.slice(0, 60)))
  const { runs } = jsonOf(await call('/runs/')) as { runs: { duration: number }[] }
  const seconds = runs[0]?.duration ?? Number.NaN
  for (const border of BUCKETS) {
    const count = seconds <= border ? 1 : 0
    t.regex(text, new RegExp(`signalbox_check_run_seconds_bucket\\{name="backup", [^}]*le="${border}"\\} ${count}\n`))
  }
  t.regex(text, /signalbox_check_run_seconds_bucket\{[^}]*le="\+Inf"\} 1\n/)
  t.regex(text, /signalbox_check_missed_total\{name="backup"[^}]*\} 0\n/)
})
