import test from 'ava'
import { z } from 'zod'
import { toIsoSeconds } from '#shared/time.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

async function filtered(settings: object, rules: object) {
  const { rwKey } = await addProject(app.deps)
  const post = (path: string, body: object) =>
    send(app.url, `/api/v3${path}`, { method: 'POST', headers: { 'X-Api-Key': rwKey }, body: JSON.stringify(body) })
  const created = await post('/checks/', { filter_http_body: true, ...settings, rules })
  const { uuid } = z.object({ uuid: z.uuid() }).parse(jsonOf(created))
  const ping = (end: string, body?: string) =>
    send(app.url, `/ping/${uuid}${end}`, { method: 'POST', ...(body !== undefined && { body }) })
  const recorded = async () => {
    await send(app.url, `/api/v3/checks/${uuid}/pings/`, { headers: { 'X-Api-Key': rwKey } })
    const rows: { type: string; ignored: string | null }[] = await app.deps
      .db('pings')
      .join('checks', 'checks.id', 'pings.check_id')
      .where({ uuid })
      .orderBy('n')
      .select('type', 'ignored')
    return rows.map(({ type, ignored }) => (ignored === null ? type : `${type} ${ignored}`))
  }
  return { uuid, post, ping, recorded }
}

const KEYWORDS = { failure_kw: 'firing', success_kw: 'resolved' }

test('classifies a ping by one member of its JSON body', async (t) => {
  const { uuid, post, ping, recorded } = await filtered(KEYWORDS, { filter_json: '/status' })
  await ping('', '{"status":"firing","old":"resolved"}')
  await ping('/fail', '{"status":"resolved","old":"firing"}')
  await ping('', '{"state":"firing"}')
  await ping('', 'firing')
  await ping('', `{"status":"firing","pad":"${'x'.repeat(10_000)}"}`)
  await ping('', '{"status":"pending"}')
  const expected = ['fail', 'success', 'ign no-member', 'ign not-json', 'ign cut', 'ign keywords']
  t.deepEqual(await recorded(), expected)
  // The evaluator must not use the rules that it cached with the check.
  await post(`/checks/${uuid}`, { filter_default_fail: true, rules: { filter_json: '/state' } })
  await ping('', '{"state":"resolved","status":"firing"}')
  await ping('', '{"status":"resolved"}')
  await post(`/checks/${uuid}`, { rules: { filter_json: null } })
  await ping('', '{"anything":"resolved"}')
  t.deepEqual((await recorded()).slice(6), ['success', 'fail no-member', 'success'])
})

test('applies the keyword filters to simulated events with a body', async (t) => {
  const { uuid, post } = await filtered(KEYWORDS, { filter_json: '/status' })
  const start = Math.floor(Date.now() / 1000) - 7_200
  const at = (minutes: number) => toIsoSeconds((start + minutes * 60) * 1_000_000)
  const events = [
    { at: at(0), kind: 'success' },
    { at: at(1), kind: 'success', body: '{"status":"firing"}' },
    { at: at(2), kind: 'success', body: '{"state":"resolved"}' },
    { at: at(3), kind: 'fail', body: '{"status":"resolved"}' },
  ]
  const answer = await post('/simulations/', { check: uuid, events, from: at(0), until: at(10) })
  const schema = z.object({ flips: z.array(z.object({ timestamp: z.string(), up: z.int() })) })
  const { flips } = schema.parse(jsonOf(answer))
  t.deepEqual(
    flips.map(({ timestamp, up }) => [timestamp, up]),
    [
      [at(0), 1],
      [at(1), 0],
      [at(3), 1],
    ],
  )
})

test('takes the type of the URL for a body without a keyword', async (t) => {
  const { ping, recorded } = await filtered(KEYWORDS, { filter_json: '/status', filter_else: 'url' })
  for (const end of ['', '/start', '/fail', '/log', '/0', '/7']) await ping(end, '{"status":"pending"}')
  await ping('/fail')
  await ping('', '{"status":"firing"}')
  t.deepEqual(await recorded(), ['success', 'start', 'fail', 'log', 'success', 'fail', 'fail not-json', 'fail'])
})

test('refuses a text that is not a JSON Pointer', async (t) => {
  const { uuid, post } = await filtered(KEYWORDS, {})
  for (const filter_json of ['', 'status', '/~2', 5, `/${'x'.repeat(200)}`]) {
    const answer = await post(`/checks/${uuid}`, { rules: { filter_json } })
    t.is(answer.status, 400)
    t.regex(answer.text, /json validation error: rules\.filter_json (?:must|has)/)
  }
  const wrong = await post(`/checks/${uuid}`, { rules: { filter_else: 'fail' } })
  t.regex(wrong.text, /json validation error: rules\.filter_else must be url/)
})
