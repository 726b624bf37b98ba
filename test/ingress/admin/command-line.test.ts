import { type ExecFileOptions, execFile } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { sealedColumns } from '#shared/platform/database/sealed-columns.ts'
import { query } from '#shared/platform/database/sql.ts'
import { verifyPassword } from '#shared/tenancy/accounts/password.ts'
import { settingsDocument } from '../../../ingress/admin/generate.ts'
import { commands } from '../../../ingress/admin/registry.ts'
import { runAdmin, TOPICS } from '../../../ingress/admin/run.ts'
import { freePort } from '../../support/free-port.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let app: HttpProduct
test.before(async () => {
  app = await sharedProduct()
})

interface Ended {
  code: number
  stdout: string
  stderr: string
}

function runCommand(file: string, args: string[], options: ExecFileOptions, input = ''): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { ...options, encoding: 'utf8' }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
    child.stdin?.end(input)
  })
}

test('every command explains itself, without any server', async (t) => {
  const nowhere = () => Promise.reject(new Error('opened'))
  const all = await runAdmin(['--help'], commands, nowhere)
  for (const { noun, verb, summary, options } of commands) {
    t.true(all.stdout.includes(summary))
    const words = verb === undefined ? [noun] : [noun, verb]
    const { status, stdout } = await runAdmin([...words, '--help'], commands, nowhere)
    t.is(status, 0)
    for (const name of Object.keys(options)) t.true(stdout.includes(`--${name}`), `${words.join(' ')} ${name}`)
  }
  const nounAlone = await runAdmin(['project'], commands, nowhere)
  t.is(nounAlone.status, 2)
  t.deepEqual(await runAdmin(['help'], commands, nowhere), all)
  t.regex((await runAdmin(['help', 'project', 'create'], commands, nowhere)).stdout, /--name/)
  t.regex(nounAlone.stderr, /project create +Create a monitoring project/)
})

test('the help has each command under a topic, and its examples are valid command lines', async (t) => {
  const nouns = [...new Set(commands.map(({ noun }) => noun))]
  t.deepEqual(Object.values(TOPICS).flat().toSorted(), nouns.toSorted())
  const opened = new Error('opened')
  for (const { examples = [] } of commands) {
    for (const example of examples) {
      const words = [...example.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain)
      await t.throwsAsync(
        runAdmin(words, commands, () => Promise.reject(opened)),
        { is: opened },
        example,
      )
    }
  }
})

test('values in examples are among those that the option lists', (t) => {
  const compared: string[] = []
  for (const { options, examples = [] } of commands) {
    for (const [name, { description }] of Object.entries(options)) {
      const [, listed = ''] = /^one of ([\w-]+(?:, [\w-]+)+)/.exec(description) ?? []
      if (listed === '') continue
      for (const [, value = ''] of examples.join('\n').matchAll(new RegExp(`--${name} (\\S+)`, 'g'))) {
        t.true(listed.split(', ').includes(value), `--${name} ${value}: ${listed}`)
        compared.push(name)
      }
    }
  }
  t.true(compared.includes('role'))
})

test('an unavailable broker and a missing file are reported in one line without a stack', async (t) => {
  const { config, db, secrets, log } = app.deps
  const port = await freePort()
  const run = async (...args: string[]) =>
    await runAdmin(args, commands, async () => ({
      ...{ config: { ...config, amqpUrl: `amqp://127.0.0.1:${port}` }, db, secrets, log, actor: 'test' },
      async [Symbol.asyncDispose]() {},
    }))
  const away = `127.0.0.1:${port} cannot be reached (ECONNREFUSED): run doctor to see which server that is\n`
  t.deepEqual(await run('dead-letters', 'list'), { status: 1, stdout: '', stderr: away })
  t.deepEqual(await run('shards', 'show'), { status: 1, stdout: '', stderr: away })
  const missing = await run('backup', 'verify', '--from', '/nowhere')
  t.deepEqual(missing, { status: 1, stdout: '', stderr: '/nowhere/manifest.json does not exist\n' })
})

test('the command line prints only JSON to stdout, and problems to stderr', async (t) => {
  const { databaseUrl, amqpUrl, secretKey } = app.deps.config
  const run = async (env: Record<string, string>, ...args: string[]) =>
    await runCommand(process.execPath, ['--import', 'tsx', 'ingress/admin.ts', ...args], {
      cwd: new URL('../../..', import.meta.url).pathname,
      env: { PATH: process.env.PATH, NODE_ENV: 'test', ...env },
    })
  const settings = { DATABASE_URL: databaseUrl, AMQP_URL: amqpUrl, SECRET_KEY: secretKey, HOST: '127.0.0.1' }
  const created = await run(settings, 'project', 'create', '--name', 'spawned', '--json')
  t.deepEqual([created.code, created.stderr], [0, ''])
  t.like(JSON.parse(created.stdout), { name: 'spawned' })
  const without = await run({}, 'project', 'list')
  t.deepEqual([without.code, without.stdout], [2, ''])
  t.regex(without.stderr, /DATABASE_URL is not set/)
})

test('a backup is readable by its owner only', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'backup-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const dump = join(folder, 'signalbox.dump')
  await writeFile(dump, 'of an earlier release', { mode: 0o644 })
  const { config, db, secrets, log } = app.deps
  const write = async () =>
    await runAdmin(['backup', 'write', '--to', folder], commands, async () => ({
      ...{ config, db, secrets, log, actor: 'test' },
      async [Symbol.asyncDispose]() {},
    }))
  await chmod(folder, 0o750)
  const refused = await write()
  t.is(refused.status, 1)
  t.regex(refused.stderr, /open to other users of this machine: chmod 700/)
  t.is(await readFile(dump, 'utf8'), 'of an earlier release')
  await chmod(folder, 0o700)
  await write() // fails where pg_dump is not installed: the file must be private before pg_dump fills it
  t.is((await stat(dump)).mode & 0o777, 0o600)
})

test('docs/settings.md is generated from the settings (npm run -s admin -- settings --write)', async (t) => {
  t.is(await readFile(new URL('../../../docs/settings.md', import.meta.url), 'utf8'), settingsDocument())
})

test('a password and a configuration are read from standard input, hidden from other users', async (t) => {
  const { databaseUrl, amqpUrl, secretKey } = app.deps.config
  const settings = { DATABASE_URL: databaseUrl, AMQP_URL: amqpUrl, SECRET_KEY: secretKey, HOST: '127.0.0.1' }
  const run = async (input: string, ...args: string[]) =>
    await runCommand(
      process.execPath,
      ['--import', 'tsx', 'ingress/admin.ts', ...args],
      {
        cwd: new URL('../../..', import.meta.url).pathname,
        env: { PATH: process.env.PATH, NODE_ENV: 'test', ...settings },
      },
      input,
    )
  const user = ['user', 'create', '--email', 'piped@example.com', '--organisation', 'Piped', '--password', '-']
  const created = await run('four words by pipe\n', ...user)
  t.is(created.code, 0, created.stderr)
  const { password_hash } = await app.deps.db('users').where({ email: 'piped@example.com' }).first('password_hash')
  t.true(await verifyPassword(String(password_hash), 'four words by pipe'))
  t.regex((await run('', ...user)).stderr, /--password - needs the value at standard input/)
  const { projectId } = JSON.parse((await run('', 'project', 'create', '--name', 'Piped', '--json')).stdout)
  const integration = [
    'integration',
    'create',
    '--project',
    projectId,
    '--name',
    'ops',
    '--kind',
    'sms',
    '--config',
    '-',
  ]
  t.is((await run('{"value":"+15550100"}', ...integration)).code, 0)
})

test('backup verify decrypts values of every column with sealed values', async (t) => {
  const found = await query<{ at: string }>(
    app.deps.db,
    `SELECT table_name || '.' || column_name AS at FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name LIKE 'sealed%'`,
  )
  t.deepEqual(
    sealedColumns.map(({ table, column }) => `${table}.${column}`).toSorted(),
    found.map(({ at }) => at).toSorted(),
  )
})
