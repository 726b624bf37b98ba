import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'ava'
import { badgeSignature } from '#shared/monitoring/badges/signature.ts'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { execute } from '#shared/platform/database/sql.ts'
import type { HttpProduct } from '../../support/product.ts'
import { addCheck, addIntegration, addProject } from '../../support/projects.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

interface Case {
  name: string
  method: string
  path: string
  body: unknown
  expectStatus: number
  expectBody: unknown
  headers?: Record<string, string>
  rawBody?: string
  contentType?: string
  setup?: string
}

const cases: Case[] = JSON.parse(readFileSync(new URL('../../vectors/monitoring-errors.json', import.meta.url), 'utf8'))

/** Intended deviations of our answers, with their reasons. */
const DIFFERENT: Readonly<Record<string, number | null>> = {
  // Our API creates integrations there; without a key that is a 401.
  'method not allowed: POST /api/v3/channels/': 401,
  // Bodies beyond the limit are 413 everywhere in the management API; a ping's body is cut instead (design 11).
  'create: body larger than 2621440 bytes': 413,
  'update: body larger than 2621440 bytes': 413,
  'ping: body larger than 2621440 bytes': 200,
  // Optional in the specification and not offered: metrics have a separate port.
  'metrics: no metrics key configured': 404,
  'metrics: wrong key': 404,
}

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct({ env: { PING_LOG_LIMIT: '100' } })
})

for (const vector of cases) {
  test.serial(vector.name, async (t) => {
    const fill = await freshData(vector.setup)
    const answer = await send(app.url, fill(vector.path), {
      method: vector.method,
      headers: headersOf(vector, fill),
      ...bodyOf(vector, fill),
    })
    const different = DIFFERENT[vector.name]
    t.is(answer.status, different ?? vector.expectStatus, answer.text)
    if (different !== undefined || vector.expectBody === null) return
    const expected = JSON.parse(fill(JSON.stringify(vector.expectBody)))
    t.deepEqual(typeof expected === 'string' ? answer.text : JSON.parse(answer.text), expected)
  })
}

function headersOf(vector: Case, fill: (text: string) => string): Record<string, string> {
  const isApi = vector.path.startsWith('/api/')
  const given = vector.headers ?? (isApi ? { 'X-Api-Key': '{rw_key}' } : {})
  const headers = Object.entries(given).map(([name, value]) => [name, fill(value)])
  return { 'Content-Type': vector.contentType ?? 'application/json', ...Object.fromEntries(headers) }
}

function bodyOf(vector: Case, fill: (text: string) => string): { body?: string | Buffer } {
  if (vector.rawBody === '\\xff') return { body: Buffer.from([0xff]) }
  if (vector.rawBody === '{"name":"x"}+2621440 spaces') return { body: `{"name":"x"}${' '.repeat(2_621_440)}` }
  if (vector.rawBody === '2621441 bytes') return { body: 'x'.repeat(2_621_441) }
  if (vector.rawBody !== undefined) return { body: vector.rawBody }
  return vector.body === null ? {} : { body: fill(JSON.stringify(vector.body)) }
}

/** The initial data of every case, under separate names. */
async function freshData(setup: string | undefined): Promise<(text: string) => string> {
  const { deps } = app
  const limited = setup === 'check_limit_reached' || setup === 'twice_the_check_limit_used'
  const own = await addProject(deps, { checkLimit: limited ? 1 : 20 })
  const other = await addProject(deps)
  const check = await addCheck(deps, own.project.id, { name: 'foo', slug: 'foo', tags: 'a b' })
  const integration = await addIntegration(deps, own.project.id, 'Alerts')
  for (const name of ['dup', 'dup', '']) await addIntegration(deps, own.project.id, name)
  const otherCheck = await addCheck(deps, other.project.id)
  const otherIntegration = await addIntegration(deps, other.project.id, 'other')
  if (setup === 'two_checks_same_slug') await addCheck(deps, own.project.id, { slug: 'foo' })
  if (setup === 'twice_the_check_limit_used') await addCheck(deps, own.project.id)
  if (setup === 'one_ping_without_body') await addPing(check.id, 1, null)
  if (setup === 'ping_1_older_than_log_limit') await addPing(check.id, 101, 'body')
  const names: Record<string, string> = {
    rw_key: own.rwKey,
    ro_key: own.roKey,
    ping_key: own.pingKey,
    badge_key: own.project.badgeKey,
    uuid: check.uuid,
    UUID: check.uuid.toUpperCase(),
    check_badge_key: check.badgeKey,
    unique_key: uniqueKey(check.uuid),
    integration_id: integration.uuid,
    CHANNEL_ID: integration.uuid.toUpperCase(),
    other_uuid: otherCheck.uuid,
    other_unique_key: uniqueKey(otherCheck.uuid),
    other_channel_id: otherIntegration.uuid,
    missing_uuid: randomUUID(),
    sig_a: badgeSignature(deps.badges.secret, own.project.badgeKey, 'a'),
  }
  return (text) => text.replace(/\{(\w+)\}/g, (whole, name: string) => names[name] ?? whole)
}

async function addPing(checkId: number, nPings: number, body: string | null): Promise<void> {
  await execute(
    app.deps.db,
    `INSERT INTO pings (check_id, slot, n, type, at, scheme, method, ua, body) VALUES (?, 1, 1, 'success', now(), 'http', 'GET', '', ?)`,
    [checkId, body === null ? null : Buffer.from(body)],
  )
  await execute(app.deps.db, 'UPDATE checks SET n_pings = ? WHERE id = ?', [nPings, checkId])
}
