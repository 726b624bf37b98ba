import { randomUUID } from 'node:crypto'
import test from 'ava'
import { openDatabase } from '#shared/platform/database/db.ts'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin } from '../../../ingress/admin/run.ts'
import { adminOf } from '../../support/admin.ts'
import type { HttpProduct } from '../../support/product.ts'
import { send } from '../../support/send.ts'
import { createDatabase } from '../../support/services.ts'
import { sharedProduct } from '../../support/shared-product.ts'

const PASSWORD = 'four words rarely joined'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

const admin = (...args: string[]) =>
  runAdmin(args, commands, async () => ({
    config: app.deps.config,
    db: app.deps.db,
    secrets: app.deps.secrets,
    log: app.deps.log,
    actor: 'tester',
    [Symbol.asyncDispose]: async () => {},
  }))

/** Runs a command that must succeed, for its JSON. */
async function json<T>(...args: string[]): Promise<T> {
  const { status, stdout, stderr } = await admin(...args, '--json')
  if (status !== 0) throw new Error(`${status}: ${stderr}${stdout}`)
  return JSON.parse(stdout)
}

test('a project belongs to the only organisation, and to a new one beside others', async (t) => {
  await using database = await createDatabase()
  const db = openDatabase({ url: database.url, name: 'people', poolSize: 2, timeoutMs: 20_000 })
  await using resources = new AsyncDisposableStack()
  resources.defer(() => db.destroy())
  const run = adminOf({ config: app.deps.config, db })
  const create = async (...args: string[]) => (await run('project', 'create', ...args)).stdout
  const first = await create('--name', 'First')
  t.regex(first, /^organisation +First \(new, no members\)\nThe first owner, who signs up with setup-link/m)
  await run('user', 'create', '--email', 'owner@example.com', '--organisation', 'First', '--password', PASSWORD)
  t.regex(await create('--name', 'Second'), /^organisation +First\n$/m)
  t.regex((await run('organisation', 'list')).stdout, /First: 1 person, 2 projects$/m)
  await create('--name', 'Third', '--organisation', 'Third')
  const fourth = await create('--name', 'Fourth')
  t.regex(fourth, /^organisation +Fourth \(new, no members\)\nOnly members see .* user create --organisation/m)
  t.regex(await create('--name', 'Fifth', '--organisation', 'First'), /^organisation +First\n$/m)
})

test('a lost password is reset by a private link without mail, which is audited', async (t) => {
  const email = 'locked-out@example.com'
  await json('user', 'create', '--email', email, '--password', PASSWORD)
  const listed = await json<{ email: string; memberships: string[] }[]>('user', 'list')
  t.deepEqual(listed.find((user) => user.email === email)?.memberships, [`${email} (owner)`])
  const { link } = await json<{ link: string }>('user', 'reset-password', '--email', email)
  const page = await send(app.url, new URL(link).pathname)
  t.regex(page.text, /Choose a new password/)
  const again = await json<{ link: string }>('user', 'reset-password', '--email', email)
  t.is((await send(app.url, new URL(link).pathname)).status, 404, 'a new link ends the one before')
  t.is((await send(app.url, new URL(again.link).pathname)).status, 200)
  t.is((await app.deps.db('audit_log').where({ action: 'password.link-made', target: email })).length, 2)
  t.like(await admin('user', 'reset-password', '--email', 'unknown@example.com'), { status: 2 })
})

test('an organisation is listed and renamed, and other names are refused', async (t) => {
  await json('project', 'create', '--name', 'Depot', '--organisation', 'Old name')
  const find = async (name: string) =>
    (await json<{ organisationId: string; name: string; projects: number }[]>('organisation', 'list')).find(
      (one) => one.name === name,
    )
  const old = await find('Old name')
  t.is(old?.projects, 1)
  await json('organisation', 'rename', '--organisation', old?.organisationId ?? '', '--name', 'New name')
  t.is((await find('New name'))?.organisationId, old?.organisationId)
  for (const args of [
    ['--organisation', randomUUID(), '--name', 'X'],
    ['--organisation', old?.organisationId ?? '', '--name', ' '],
  ])
    t.like(await admin('organisation', 'rename', ...args), { status: 2 })
})

test('the command line prints its version, and where an owner signs in', async (t) => {
  t.regex((await admin('--version')).stdout, /^\d+\.\d+\.\d+\n$/)
  await admin('user', 'create', '--email', 'first@example.com', '--password', PASSWORD)
  t.regex((await admin('setup-link')).stdout, /^An owner has signed up: sign in at http\S+\/sign-in/)
})
