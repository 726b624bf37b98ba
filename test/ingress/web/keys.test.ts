import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { addCheck, createTeam, join } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

/** Submits a form of the page of keys. @returns the new key, which the next page shows once */
async function submit(visitor: Visitor, keys: string, path: string, fields: Record<string, string> = {}) {
  const { status } = await visitor.post(`${keys}${path}`, fields, keys)
  if (status !== 303) throw new Error(`${path} was answered with ${status}`)
  const { text } = await visitor.get(keys)
  const [, key = ''] = /secret-once.*?<code[^>]*>([^<]+)/s.exec(text) ?? []
  return { key, text }
}

const statusOf = async (key: string) =>
  (await fetch(`${app.url}/api/v3/checks/`, { headers: { 'X-Api-Key': key } })).status

test('rotation creates a key with the same name and type, and the old key works until it is revoked', async (t) => {
  const team = await createTeam(app, 'Rotating')
  const owner = await join(app, team, 'owner')
  const keys = `/projects/${team.project.uuid}/keys`
  const { key: old } = await submit(owner, keys, '', { kind: 'ro', key_name: 'Grafana' })
  const listed = () => app.deps.db('project_keys').where({ project_id: team.project.id }).orderBy('id')
  const [{ id }] = await listed()
  const { key, text } = await submit(owner, keys, `/${id}/rotate`)

  t.regex(key, /^hcr_/)
  t.not(key, old)
  t.true(text.includes(`The old key <code>${old.slice(0, 8)}…</code> <b>still works</b>`))
  t.regex(text, /Grafana <span class="pill">old, still works<\/span>/)
  t.deepEqual(
    (await listed()).map(({ kind, name, replaced_at }) => [kind, name, replaced_at !== null]),
    [
      ['ro', 'Grafana', true],
      ['ro', 'Grafana', false],
    ],
  )
  t.deepEqual([await statusOf(old), await statusOf(key)], [200, 200])
  const scrape = text.slice(text.indexOf('scrape_configs'))
  t.regex(scrape, /metrics_path: \/projects\/[0-9a-f-]{36}\/metrics\/\n/)
  t.true(scrape.includes(`authorization: { credentials: ${key} }`), 'the key is in no URL')
  t.false((await owner.get(keys)).text.includes(key), 'it is shown once')

  t.is((await owner.post(`${keys}/${id}/rotate`, {}, keys)).status, 404, 'a key is replaced only once')
  await owner.post(`${keys}/${id}/revoke`, {}, keys)
  await eventually('the old key to be refused', async () => (await statusOf(old)) === 401)
  t.is(await statusOf(key), 200)
})

test('after a rotation the page of a check shows the new ping key', async (t) => {
  const team = await createTeam(app, 'Pinging')
  const owner = await join(app, team, 'owner')
  const keys = `/projects/${team.project.uuid}/keys`
  const check = await addCheck(owner, team, { slug: 'nightly' })
  const { key: old } = await submit(owner, keys, '', { kind: 'ping', key_name: '' })
  const { id } = await app.deps.db('project_keys').where({ project_id: team.project.id }).first()
  const { key } = await submit(owner, keys, `/${id}/rotate`)
  const { text } = await owner.get(`/checks/${check}`)
  t.true(text.includes(`/ping/${key}/nightly`))
  t.false(text.includes(old))
  for (const one of [old, key]) t.is((await fetch(`${app.url}/ping/${one}/nightly`)).status, 200)
})
