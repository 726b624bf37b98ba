import { execFileSync, spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'yaml'
import { z } from 'zod'
import { SHUTDOWN_SECONDS } from '#shared/platform/process/run-process.ts'
import { settings } from '#shared/platform/process/settings.ts'
import { ALL_HEAP, IMPORTER_HEAP, LOADER } from '../../stack/stack-settings.ts'
import { workers } from '../../workers/registry.ts'
import { blocksOf } from '../support/doc-blocks.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { root } from '../support/imports.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const compose = readFileSync(join(root, 'compose.yaml'), 'utf8')

test('compose.yaml runs every worker as a service that scales separately', (t) => {
  const services = [...compose.matchAll(/^ {2}([\w-]+): .*"workers\/main\.ts", "([\w-]+)"\]/gm)]
  t.deepEqual(
    services.map(([, service, worker]) => [service, worker]).sort(),
    workers.map(({ name }) => [name, name]).sort(),
  )
})

test('stack/images.env names by digest every image that is used by tag', (t) => {
  const pinned = readFileSync(join(root, 'stack/images.env'), 'utf8').match(/^[A-Z_]+=.*$/gm) ?? []
  const byTag = [...compose.matchAll(/\$\{((?:NODE|POSTGRES|RABBITMQ)_IMAGE):-([^}]+)\}/g)].map(
    ([, name, image]) => `${name}=${image}`,
  )
  t.is(byTag.length, 3)
  for (const image of byTag) {
    const line = pinned.find((it) => it.startsWith(`${image}@`)) ?? ''
    t.regex(line, /@sha256:[0-9a-f]{64}$/, image)
  }
})

test('the build context contains each file that the Dockerfile copies, and no other', (t) => {
  const copied = [...readFileSync(join(root, 'Dockerfile'), 'utf8').matchAll(/^COPY (?!--from)(.+) \S+$/gm)]
  const sources = new Set(copied.flatMap(([, names = '']) => names.split(' ')))
  t.true(sources.size > 5)
  const context = readFileSync(join(root, '.dockerignore'), 'utf8').trim().split('\n')
  t.deepEqual(context.sort(), ['*', ...[...sources].map((name) => `!${name}`)].sort())
})

test('the image makes its files readable, because a checkout may have private modes', (t) => {
  const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
  t.notRegex(last, /^COPY (?!--from=)/m, 'all files of the checkout come from a stage that sets their modes')
  const [, sources = ''] = /^FROM \S+ AS sources\n([\s\S]*?)\nFROM /m.exec(dockerfile) ?? []
  t.regex(sources, /^RUN chmod -R a\+rX \.\n*$/m)
})

test('every container has bounds of memory and processes', (t) => {
  const count = (line: RegExp) => [...compose.matchAll(line)].length
  t.is(count(/^ +image: /gm), 3, 'the product, PostgreSQL, RabbitMQ')
  t.is(count(/^ +mem_limit: \$\{\w+:-\d+g\}$/gm), 3)
  t.is(count(/^ +pids_limit: \d+$/gm), 3)
  const others = [...compose.matchAll(/^ {2}([\w-]+):\s+(?:\{ )?<<: \*(\w+)/gm)].map(([, name]) => name)
  t.is(others.length, workers.length + 5, 'the others are made from the first')
})

test('every setting of a process can be given to the containers', (t) => {
  const shape = z.object({ 'x-environment': z.record(z.string(), z.unknown()) })
  const passed = Object.keys(shape.parse(parse(compose, { merge: true }))['x-environment'])
  const names = new Set(passed.map((name) => name.replace(/_FILE$/, '')))
  const others = Object.keys(settings).filter((name) => !names.has(name))
  t.deepEqual(others, [
    ...['DATABASE_OWNER_URL', 'AMQP_ADMIN_URL', 'HOST', 'SMTP_PORT'], // set for the services that need them
    ...['METRICS_PORT', 'DATABASE_POOLER', 'DATABASE_SYNC_STANDBYS'], // of these servers and containers
    ...['IMPORT_API_KEY', 'IMPORT_DATABASE_URL', 'CRASH_AT', 'CLOCK_SKEW_MS', 'NODE_ENV'], // of a command, of tests
  ])
})

test('settings with secrets can be read from files', (t) => {
  const made = readFileSync(join(root, 'stack/secrets.sh'), 'utf8')
  for (const name of ['registries', 'smtp_url', 'secret_key_previous']) {
    t.regex(compose, new RegExp(`${name.toUpperCase()}_FILE: /run/secrets/${name}$`, 'm'))
    t.regex(compose, new RegExp(`^ {2}${name}: \\{ file: ./.local/secrets/${name} \\}$`, 'm'))
    t.true(made.includes(name))
  }
})

test('the page of the mail catcher states who can read it', async (t) => {
  const [http, smtp] = [await freePort(), await freePort()]
  const catcher = spawn(process.execPath, ['--import', 'tsx', 'stack/mail-catcher.ts'], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', MAIL_HTTP_PORT: String(http), MAIL_SMTP_PORT: String(smtp) },
    stdio: 'ignore',
  })
  t.teardown(() => catcher.kill())
  const page = await eventually('the mail catcher to answer', async () => {
    const response = await fetch(`http://127.0.0.1:${http}/`).catch(() => undefined)
    return await response?.text()
  })
  t.regex(page, /anyone who opens this page can read every mail/)
})

test('the lines of a backup keep the umask of the shell, and can be repeated', (t) => {
  const block = blocksOf('docs/install.md').find(({ text }) => text.includes(' pg_dump '))?.text ?? ''
  const folder = temporaryFolder('signalbox-backup')
  const [checkout, bin] = [join(folder, 'signalbox'), join(folder, 'bin')]
  for (const path of [join(checkout, '.local/secrets'), bin]) mkdirSync(path, { recursive: true })
  writeFileSync(join(checkout, '.local/secrets/secret_key'), 'key')
  writeFileSync(join(bin, 'docker'), '#!/bin/sh\necho dump\n', { mode: 0o755 })
  const env = { PATH: `${bin}:${process.env.PATH}` }
  const script = `umask 022\n${block}\n${block}\numask`
  t.is(execFileSync('bash', ['--norc', '-e', '-c', script], { cwd: checkout, env, encoding: 'utf8' }), '0022\n')
  t.deepEqual(readdirSync(join(folder, 'signalbox-secrets')), ['secret_key'])
  t.is(readFileSync(join(folder, 'signalbox.dump'), 'utf8'), 'dump\n')
  t.is(statSync(join(folder, 'signalbox.dump')).mode & 0o777, 0o600)
})

test('processes have one time limit for shutdown, and are not killed before it', (t) => {
  const [, grace] = /^ {2}stop_grace_period: (\d+)s/m.exec(compose) ?? []
  t.is(Number(grace), SHUTDOWN_SECONDS + 5)
  const manual = readFileSync(join(root, 'docs/operations.md'), 'utf8')
  t.true(manual.includes(`ends within ${SHUTDOWN_SECONDS} seconds; give it ${grace} before you kill it`))
})

test("only the migrations get the owner's login, and the others have one that owns nothing", (t) => {
  t.is([...compose.matchAll(/DATABASE_OWNER_URL_FILE/g)].length, 1)
  t.regex(compose, /^ {2}migrate:\n(?: {4}.*\n)*? {4}environment: .*DATABASE_OWNER_URL_FILE/m)
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-secrets-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const make = () => execFileSync('sh', [join(root, 'stack/secrets.sh'), folder])
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  make()
  t.regex(read('database_url'), /^postgres:\/\/signalbox_login:[0-9a-f]{64}@postgres:5432\/signalbox$/)
  const first = read('database_url')
  make()
  t.is(read('database_url'), first)
})

test('the secrets are created where compose.yaml expects them', (t) => {
  const checkout = mkdtempSync(join(tmpdir(), 'signalbox-checkout-'))
  t.teardown(() => rmSync(checkout, { recursive: true }))
  mkdirSync(join(checkout, 'stack'))
  copyFileSync(join(root, 'stack/secrets.sh'), join(checkout, 'stack/secrets.sh'))
  execFileSync('sh', ['stack/secrets.sh'], { cwd: checkout })
  for (const [, path = ''] of compose.matchAll(/\{ file: (\S+) \}/g)) t.true(existsSync(join(checkout, path)), path)
})

test('a separate tape importer is started with the heap that a tape needs', (t) => {
  const command = /^ {2}tape-importer: .*command: (\[.*?\])/m.exec(compose)?.[1] ?? '[]'
  t.deepEqual(JSON.parse(command), ['node', ...IMPORTER_HEAP, ...LOADER, 'workers/main.ts', 'tape-importer'])
})

test('the profile small runs listeners and workers in one container', (t) => {
  const service = /^ {2}all:\n(?: {4}.*\n)+/m.exec(compose)?.[0] ?? ''
  t.regex(service, /profiles: \[small\]/)
  const command = /command: (\[.*?\])/.exec(service)?.[1] ?? '[]'
  t.deepEqual(JSON.parse(command), ['node', ...ALL_HEAP, ...LOADER, 'all/main.ts'])
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  t.is(scripts.all, JSON.parse(command).join(' '))
  const roles = [...compose.matchAll(/<<: \*role/g)]
  t.is(roles.length, workers.length + 2, 'every other process is in the profile roles')
})
