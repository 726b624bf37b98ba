import test from 'ava'
import { z } from 'zod'
import type { HttpProduct } from '../../support/product.ts'
import { addProject } from '../../support/projects.ts'
import { type Answer, jsonOf as anyJson, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const NONE = {
  policy: null,
  severity: 'critical',
  parents: [],
  parents_mode: 'any',
  run: null,
  sources: null,
  ping_auth: null,
  previews: null,
  filter_json: null,
  filter_else: null,
  early: 0,
}

const jsonOf = (answer: Answer) => z.record(z.string(), z.unknown()).parse(anyJson(answer))
const textOf = (value: unknown) => z.string().parse(value)
const checksOf = (answer: Answer) =>
  z.object({ checks: z.array(z.record(z.string(), z.unknown())) }).parse(anyJson(answer)).checks

async function someone() {
  const { project, rwKey, roKey } = await addProject(app.deps)
  const call = (method: string, path: string, body?: unknown, key = rwKey) =>
    send(app.url, `/api${path}`, {
      method,
      headers: { 'X-Api-Key': key },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const policy = jsonOf(await call('POST', '/v3/policies/', { name: 'On call', steps: [{}] }))
  return { project, roKey, call, post: (path: string, body: unknown) => call('POST', path, body), policy: policy.id }
}

test('rules are set with a check and shown then, by version 3 alone', async (t) => {
  const { call, post, policy } = await someone()
  const router = jsonOf(await post('/v3/checks/', { name: 'router' }))
  t.false('rules' in router)
  const rules = { policy, severity: 'warning', parents: [{ check: router.uuid }], run: { max: 600 } }
  const created = await post('/v3/checks/', { name: 'web', timeout: 60, rules })
  t.is(created.status, 201)
  const shown = { ...NONE, ...rules, run: { max: 600 } }
  t.like(jsonOf(created), { name: 'web', rules: { policy, severity: 'warning', parents: rules.parents } })
  const web = textOf(jsonOf(created).uuid)
  t.like(jsonOf(await call('GET', `/v3/checks/${web}/rules`)), { policy, severity: shown.severity })

  const gone = textOf(jsonOf(await post('/v3/checks/', { name: 'gone', rules: { severity: 'info' } })).uuid)
  t.like(jsonOf(await call('DELETE', `/v3/checks/${gone}?rules=1`)), { name: 'gone', rules: { severity: 'info' } })
  const other = textOf(jsonOf(await post('/v3/checks/', { name: 'other', rules: { severity: 'info' } })).uuid)
  t.false('rules' in jsonOf(await call('DELETE', `/v2/checks/${other}?rules=1`)))

  // An update without a member keeps it, null resets it; an update without rules shows none.
  t.like(jsonOf(await post(`/v3/checks/${web}`, { rules: { severity: null, parents: null } })), {
    rules: { policy, severity: 'critical', parents: [] },
  })
  t.false('rules' in jsonOf(await post(`/v3/checks/${web}`, { desc: 'x' })))
  // An upsert that finds the check.
  const upsert = await post('/v3/checks/', { name: 'web', unique: ['name'], rules: { policy: null } })
  t.is(upsert.status, 200)
  t.like(jsonOf(upsert), { uuid: web, rules: { policy: null, severity: 'critical' } })

  for (const version of [1, 2]) {
    const ignored = await post(`/v${version}/checks/`, { name: `old ${version}`, rules: { policy: 'no such' } })
    t.is(ignored.status, 201)
    t.false('rules' in jsonOf(ignored))
    const uuid = textOf(jsonOf(ignored).uuid)
    t.is((await post(`/v${version}/checks/${uuid}`, { rules: 5 })).status, 200)
    t.deepEqual(jsonOf(await call('GET', `/v3/checks/${uuid}/rules`)), NONE)
  }
})

test('reads show rules on request, for the read-write key', async (t) => {
  const { call, post, roKey } = await someone()
  const uuid = textOf(jsonOf(await post('/v3/checks/', { name: 'ruled', rules: { severity: 'info' } })).uuid)
  await post('/v3/checks/', { name: 'plain' })
  const ruleState = { ...NONE, severity: 'info' }
  t.deepEqual(jsonOf(await call('GET', `/v3/checks/${uuid}?rules=1`)).rules, ruleState)
  t.deepEqual(
    checksOf(await call('GET', '/v3/checks/?rules=1')).map(({ rules }) => rules),
    [ruleState, NONE],
  )
  t.deepEqual(jsonOf(await post(`/v3/checks/${uuid}/pause?rules=1`, {})).rules, ruleState)
  t.deepEqual(jsonOf(await post(`/v3/checks/${uuid}?rules=1`, { desc: 'x' })).rules, ruleState)
  for (const path of ['/v3/checks/', '/v3/checks/?rules=0', '/v2/checks/?rules=1', '/v1/checks/?rules=1']) {
    t.false(
      checksOf(await call('GET', path)).some((check) => 'rules' in check),
      path,
    )
  }
  for (const path of [`/v3/checks/${uuid}`, `/v2/checks/${uuid}?rules=1`, `/v1/checks/${uuid}?rules=1`]) {
    t.false('rules' in jsonOf(await call('GET', path)), path)
  }
  t.false(checksOf(await call('GET', '/v3/checks/?rules=1', undefined, roKey)).some((check) => 'rules' in check))
  t.false('rules' in jsonOf(await call('GET', `/v3/checks/${uuid}?rules=1`, undefined, roKey)))
})

test('a new ping secret is shown once, in the answer to the request that created it', async (t) => {
  const { call, post } = await someone()
  const created = jsonOf(await post('/v3/checks/', { name: 'a', rules: { ping_auth: { mode: 'bearer' } } }))
  const { rules } = z.object({ rules: z.object({ ping_auth: z.object({ secret: z.string() }) }) }).parse(created)
  t.regex(rules.ping_auth.secret, /^psk_/)
  const uuid = textOf(created.uuid)
  const read = await call('GET', `/v3/checks/${uuid}?rules=1`)
  t.like(jsonOf(read), { rules: { ping_auth: { mode: 'bearer' } } })
  t.false(read.text.includes(rules.ping_auth.secret))
})

test('errors in rules are reported after other errors, and nothing is stored', async (t) => {
  const { call, post } = await someone()
  const wrong = async (body: object) => {
    const answer = await post('/v3/checks/', body)
    t.is(answer.status, 400)
    return jsonOf(answer).error
  }
  const at = 'json validation error: rules'
  t.is(await wrong({ rules: 5 }), `${at} must be an object`)
  t.is(await wrong({ rules: null }), `${at} must be an object`)
  t.is(await wrong({ rules: [], unique: 5 }), 'json validation error: unique is not an array')
  t.is(await wrong({ rules: { severity: 'fatal', policy: 5 } }), `${at}.policy must be a string`)
  t.is(await wrong({ rules: { severity: 'fatal' } }), `${at}.severity must be one of info, warning, critical`)
  t.is(await wrong({ rules: { run: { max: 1 } } }), `${at}.run.max must be between 60 and 31536000 seconds`)
  t.is(await wrong({ rules: { api_key: 'x' } }), `${at}.api_key is not a known member`)
  t.is(await wrong({ rules: { parents: [{ check: 'web' }] } }), 'invalid check identifier: web')
  t.is(
    await wrong({ channels: 'unknown', rules: { parents: [{ check: 'web' }] } }),
    'invalid channel identifier: unknown',
  )
  t.is(
    await wrong({ name: 'ring', tags: 'ring', rules: { parents: [{ tag: 'ring' }, { check: 'x' }] } }),
    'invalid check identifier: x',
  )
  t.is((await post('/v3/checks/', { rules: { policy: '803f680d-e89b-492b-82ef-2be7b774a92d' } })).status, 404)
  const foreign = await someone()
  t.is((await post('/v3/checks/', { rules: { policy: foreign.policy } })).status, 404)
  t.deepEqual(checksOf(await call('GET', '/v3/checks/')), [])

  const one = textOf(jsonOf(await post('/v3/checks/', { name: 'one' })).uuid)
  const other = textOf(jsonOf(await post('/v3/checks/', { name: 'other', rules: { parents: [{ check: one }] } })).uuid)
  const ring = await post(`/v3/checks/${one}`, { name: 'renamed', rules: { parents: [{ check: other }] } })
  t.like(jsonOf(ring), { error: `${at}.parents must not make a cycle: renamed > other > renamed` })
  t.like(jsonOf(await call('GET', `/v3/checks/${one}`)), { name: 'one' })
})
