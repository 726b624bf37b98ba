import test from 'ava'
import { adminJsonOf, adminOf } from '../../support/admin.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const admin = (...args: string[]) => adminOf(app.deps)(...args)

const json = <T>(...args: string[]) => adminJsonOf(app.deps)<T>(...args)

interface CreatedProject {
  projectId: string
  pingKey: string
}

test('keys are added, listed by their first characters, and revoked', async (t) => {
  const { projectId } = await json<CreatedProject>('project', 'create', '--name', 'K')
  const kind = ['--kind', 'rw', '--name', 'Deploys']
  const { key } = await json<{ key: string }>('key', 'create', '--project', projectId, ...kind)
  const listed = await json<{ id: number; prefix: string }[]>('key', 'list', '--project', projectId)
  t.like(listed.at(-1), { name: 'Deploys', createdBy: 'operator tester' })
  t.is(listed.length, 4)
  t.false(JSON.stringify(listed).includes(key))
  const id = listed.find(({ prefix }) => key.startsWith(prefix))?.id
  await json('key', 'revoke', '--project', projectId, '--key', String(id))
  t.is((await json<unknown[]>('key', 'list', '--project', projectId)).length, 3)
})

test('a rotated key has the kind and name of the old one, which works until it is revoked', async (t) => {
  const { projectId } = await json<CreatedProject>('project', 'create', '--name', 'R')
  const named = ['--kind', 'ro', '--name', 'Grafana']
  const old = await json<{ key: string }>('key', 'create', '--project', projectId, ...named)
  const list = () =>
    json<{ id: number; name: string; replacedAt: string | null }[]>('key', 'list', '--project', projectId)
  const id = (await list()).at(-1)?.id
  const chosen = ['--project', projectId, '--key', String(id)]
  const rotated = await json<{ kind: string; key: string; replaces: number }>('key', 'rotate', ...chosen)
  t.like(rotated, { kind: 'ro', replaces: id })
  t.like((await list()).at(-1), { name: 'Grafana', createdBy: 'operator tester', replacedAt: null })
  t.truthy((await list()).find((key) => key.id === id)?.replacedAt)
  const read = async ({ key }: { key: string }) =>
    (await send(app.url, '/api/v3/checks/', { headers: { 'X-Api-Key': key } })).status
  t.deepEqual([await read(old), await read(rotated)], [200, 200])
  const refused = await admin('key', 'rotate', ...chosen)
  t.is(refused.status, 2)
  t.regex(refused.stderr, /neither revoked nor replaced/)
  await json('key', 'revoke', ...chosen)
  t.is(await eventually('the old key to be refused', async () => ((await read(old)) === 401 ? 401 : null)), 401)
  t.is(await read(rotated), 200)
  t.like(await admin('key', 'rotate', ...chosen), { status: 2 })
  const action = 'key.rotated'
  t.like(
    await app
      .db('audit_log')
      .where({ action, target: `R #${id}` })
      .first(),
    { action },
  )
})

test('a revoked ping key stops working at once in processes that know it', async (t) => {
  const { projectId, pingKey } = await json<CreatedProject>('project', 'create', '--name', 'P')
  const ping = async () => (await send(app.url, `/ping/${pingKey}/job?create=1`)).status
  t.is(await ping(), 201)
  t.is(await ping(), 200)
  const listed = await json<{ id: number; kind: string }[]>('key', 'list', '--project', projectId)
  const id = listed.find(({ kind }) => kind === 'ping')?.id
  await json('key', 'revoke', '--project', projectId, '--key', String(id))
  t.is(await eventually('the cached key to be removed', async () => ((await ping()) === 404 ? 404 : null), 5_000), 404)
})
