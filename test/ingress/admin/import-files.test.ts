import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import type { MoveInReport } from '#shared/monitoring/move-in/report.ts'
import type { HttpProduct } from '../../support/product.ts'
import { jsonOf, send } from '../../support/send.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { importing, type Made } from './importing.ts'

let app: HttpProduct
let folder: string
let admin: ReturnType<typeof importing>['admin']
let createProject: ReturnType<typeof importing>['createProject']
let api: ReturnType<typeof importing>['api']

test.before(async () => {
  app = await sharedProduct()
  ;({ admin, createProject, api } = importing(app))
  folder = await mkdtemp(join(tmpdir(), 'import-files-'))
})

test.after.always(async () => await rm(folder, { recursive: true, force: true }))

test.serial('a crontab is changed to ping its checks, and read again unchanged', async (t) => {
  const made = await createProject()
  const [file, written] = [join(folder, 'crontab'), join(folder, 'changed')]
  await writeFile(file, '# Name: Nightly\n0 3 * * * /opt/backup.sh\n@reboot /opt/boot\n')
  const own = ['--project', made.projectId, '--host', 'web1', '--tz', 'Europe/Berlin']
  const run = async (from: string, ...more: string[]): Promise<MoveInReport & { diff: string }> =>
    JSON.parse((await admin('import-from', 'crontab', ...own, '--file', from, ...more, '--json')).stdout)
  const plan = await run(file)
  t.like(plan, { applied: false, notTaken: [{ subject: 'line 3', reason: '@reboot has no schedule' }] })
  const applied = await run(file, '--apply', '--write', written)
  t.deepEqual([applied.create, applied.diff], [plan.create, plan.diff], 'the plan names the addresses')
  const uuid = applied.create[0]?.id ?? ''
  t.like(jsonOf(await api(made.apiKey, `/checks/${uuid}`)), {
    ...{ name: 'Nightly', slug: 'nightly', tags: 'web1', schedule: '0 3 * * *', tz: 'Europe/Berlin', status: 'new' },
  })
  const text = await readFile(written, 'utf8')
  t.true(text.includes(`/opt/backup.sh; curl -fsS -m 10 --retry 5 --retry-connrefused -o /dev/null `))
  t.true(text.includes(`/ping/${uuid}/$?\n@reboot`))
  const again = await run(written, '--apply')
  t.like(again, { create: [], update: [], unchanged: 1, gone: [], diff: '' })
  t.is((await admin('import-from', 'crontab', '--project', made.projectId, '--file', file)).status, 1)
})

test.serial('a Cronitor export is imported with run rules, and its addresses are printed', async (t) => {
  const made = await createProject()
  const file = join(folder, 'monitors.yaml')
  const text =
    'jobs:\n  nightly:\n    schedule: 0 3 * * *\n    assertions: [metric.duration < 5 min]\n    paused: true\n'
  await writeFile(file, text)
  const run = async (...more: string[]): Promise<MoveInReport & { urls: { key: string; url: string }[] }> =>
    JSON.parse(
      (await admin('import-from', 'cronitor', '--project', made.projectId, '--file', file, ...more, '--json')).stdout,
    )
  const [url] = (await run('--apply')).urls
  const uuid = url?.url.slice(-36)
  t.like(url, { key: 'nightly' })
  const check = { name: 'nightly', schedule: '0 3 * * *', grace: 60, status: 'paused' }
  t.like(jsonOf(await api(made.apiKey, `/checks/${uuid}`)), check)
  t.like(jsonOf(await api(made.apiKey, `/checks/${uuid}/rules`)), { run: { max: 300 } })
  t.like(await run('--apply'), { create: [], update: [], unchanged: 1, conflicts: [] })
  await writeFile(file, 'jobs: [')
  const refused = await admin('import-from', 'cronitor', '--project', made.projectId, '--file', file)
  t.is(refused.status, 1)
  t.regex(refused.stderr, /^the file is not YAML: line \d/)
})

/** A database of Uptime Kuma 2.x, with the columns that matter and others. */
function writeKumaDatabase(file: string, token: string): void {
  const database = new DatabaseSync(file)
  database.exec(`
    CREATE TABLE monitor (id INTEGER PRIMARY KEY, name TEXT, active BOOLEAN, user_id INTEGER, interval INTEGER, url TEXT,
      type TEXT, maxretries INTEGER, retry_interval INTEGER, upside_down BOOLEAN, description TEXT, push_token TEXT);
    CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT, color TEXT);
    CREATE TABLE monitor_tag (id INTEGER PRIMARY KEY, monitor_id INTEGER, tag_id INTEGER, value TEXT);
    INSERT INTO monitor VALUES (1, 'Backup', 1, 1, 3600, NULL, 'push', 1, 120, 0, NULL, '${token}'),
      (2, 'Paused', 0, 1, 3600, NULL, 'push', 1, 120, 0, 'off', '${token}-2'), (3, 'Web', 1, 1, 60, 'x', 'http', 0, 60, 0, '', NULL);
    INSERT INTO tag VALUES (1, 'prod', '#fff');
    INSERT INTO monitor_tag VALUES (1, 1, 1, 'db')`)
  database.close()
}

test.serial('push monitors of Uptime Kuma keep their push addresses', async (t) => {
  const [made, later] = [await createProject(), await createProject()]
  const file = join(folder, 'kuma.db')
  const token = randomUUID().slice(0, 10)
  writeKumaDatabase(file, token)
  const run = async (project: Made, ...more: string[]): Promise<MoveInReport> => {
    const own = ['--project', project.projectId, '--file', file]
    return JSON.parse((await admin('import-from', 'uptime-kuma', ...own, ...more, '--json')).stdout)
  }
  const { create } = await run(made, '--apply')
  t.deepEqual(
    create.map(({ name, paused }) => [name, paused]),
    [
      ['Backup', false],
      ['Paused', true],
    ],
  )
  t.like(await run(made, '--apply'), { create: [], update: [], unchanged: 2 })
  const uuid = create[0]?.id
  const check = async () => jsonOf(await api(made.apiKey, `/checks/${uuid}`))
  t.like(await check(), { timeout: 3600, grace: 120, tags: 'prod:db', status: 'new' })

  const push = async (path: string, method = 'GET') => {
    const { status, text } = await send(app.url, `/api/push/${path}`, { method })
    return [status, JSON.parse(text)]
  }
  t.deepEqual(await push(`${token}?status=up&msg=OK&ping=12`), [200, { ok: true }])
  t.like(await check(), { status: 'up', n_pings: 1 })
  const last = await send(app.url, `/api/v3/checks/${uuid}/pings/1/body`, { headers: { 'X-Api-Key': made.apiKey } })
  t.is(last.text, 'OK\nping: 12 ms')
  t.deepEqual(await push(`${token}?status=down&msg=broken`, 'POST'), [200, { ok: true }])
  t.like(await check(), { status: 'down', n_pings: 2 })
  const unknown = [404, { ok: false, msg: 'Monitor not found or not active.' }]
  for (const path of [`${token}-2`, `${token}-3`, 'a/b', '']) t.deepEqual(await push(path), unknown, path)
  t.is((await push(token, 'DELETE'))[0], 405)

  const taken = await run(later, '--apply')
  t.true(taken.notTaken.some(({ reason }) => reason === 'another check has it'))
  t.deepEqual(await push(token), [200, { ok: true }])
  t.like(await check(), { n_pings: 3 }, 'the address stays with its first check')
  await writeFile(file, 'SQLite format 3\0nothing')
  const refused = await admin('import-from', 'uptime-kuma', '--project', made.projectId, '--file', file)
  t.deepEqual([refused.status, refused.stderr], [1, 'the file is not a database of Uptime Kuma\n'])
})
