import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import test from 'ava'
import { down } from '../../stack/down.ts'
import { up } from '../../stack/up.ts'
import { blocksOf, type DocBlock, pages } from '../support/doc-blocks.ts'
import { freePort } from '../support/free-port.ts'
import { root, sourcesBelow } from '../support/imports.ts'
import { createDatabase, createVhost } from '../support/services.ts'

const CHECK = 'f3b1c6a2-5d4e-4c1b-9a70-2e8d6b7c9f10'

const resources = new AsyncDisposableStack()
const folder = mkdtempSync(join(tmpdir(), 'signalbox-docs-'))
const bin = join(folder, 'bin')
const work = join(folder, 'work')
const ports = { http: 0, smtp: 0 }
let printed = ''
let variables: Record<string, string> = {}

/** `make up`, in a folder and on servers of this test's own. */
test.before(async () => {
  resources.defer(() => rmSync(folder, { recursive: true, force: true }))
  const [database, vhost] = [resources.use(await createDatabase()), resources.use(await createVhost())]
  ports.http = await freePort()
  ports.smtp = await freePort()
  const env = {
    DATABASE_URL: database.url,
    AMQP_URL: vhost.url,
    STACK_SERVICES: 'environment',
    HOST: '127.0.0.1',
    PORT: String(ports.http),
    SMTP_PORT: String(ports.smtp),
    METRICS_PORT: String(await freePort()),
    PING_EMAIL_DOMAIN: 'hc.example.org',
    CHECKPOINT_DIR: join(folder, 'checkpoints'),
    PUBLISH_TIMEOUT_MS: '20000',
  }
  resources.defer(() => down(join(folder, 'stack'), () => {}))
  await up(env, join(folder, 'stack'), (line) => (printed += `${line}\n`))
  for (const name of [bin, work]) mkdirSync(name)
  // An answer of 400 or more is a failure of the example, whatever the example itself makes of it.
  writeFileSync(join(folder, '.curlrc'), 'fail\n')
  writeFileSync(join(bin, 'backup'), '#!/bin/sh\necho "1204 files copied"\n', { mode: 0o755 })
  // The examples are run as if in the checkout, and what they write stays out of it.
  for (const name of readdirSync(root)) if (!name.startsWith('.')) symlinkSync(join(root, name), join(work, name))
  const exports = /^ *(export PROJECT_ID=.*)$/m.exec(printed)?.[1] ?? ''
  variables = Object.fromEntries(
    [...exports.matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  )
  await mustRun('bash', '', ['--norc', '-c', importOfCheck()])
})
test.after.always(() => resources.disposeAsync())

/** The check of the pages, with the identity that they give it. */
function importOfCheck(): string {
  const document = JSON.stringify({ checks: [{ uuid: CHECK, name: 'of the pages', timeout: 86_400, grace: 3600 }] })
  return `curl -sS -o check.json -H "X-Api-Key: $API_KEY" 'http://localhost:${ports.http}/api/v3/import?apply=1' -d '${document}'`
}

/** An example as it is run here: at the addresses of this test instead of those of the page. */
function placed(text: string): string {
  return text
    .replaceAll('http://localhost:8080', `http://localhost:${ports.http}`)
    .replaceAll('https://signalbox.example.org', `http://localhost:${ports.http}`)
    .replaceAll('smtp://signalbox.example.org:2525', `smtp://localhost:${ports.smtp}`)
    .replaceAll('"signalbox.example.org", 2525', `"localhost", ${ports.smtp}`)
    .replaceAll('/usr/local/bin/', `${bin}/`)
}

/** Runs a program in the folder of the examples; its standard input is the text, as when it is pasted. */
async function mustRun(program: string, input: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, {
    cwd: work,
    timeout: 120_000,
    env: {
      ...variables,
      PATH: `${bin}:${process.env.PATH}`,
      CURL_HOME: folder,
      LOCAL_ENV_FILE: join(folder, 'stack', 'env'),
    },
  })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (code !== 0 || /ping failed|not found|Traceback/.test(out))
    throw new Error(`exit status ${code}\n${input}\n${out}`)
  return out
}

const bash = (script: string) => mustRun('bash', script, ['--norc', '-e', '-o', 'pipefail', '-s'])

async function runBlock({ language, text }: DocBlock): Promise<string> {
  const script = placed(text)
  if (language === 'python') return await mustRun('python3', script, ['-'])
  if (language === 'js') return await mustRun(process.execPath, script, ['--input-type=module', '-'])
  // A line of a crontab: what stands after the five fields of its schedule.
  if (language === 'cron') return await bash(script.replace(/^(?:\S+ ){5}/gm, ''))
  if (!text.startsWith('#!')) return await bash(script)
  const file = join(bin, basename(/^# (\S+)/m.exec(text)?.[1] ?? 'script'))
  writeFileSync(file, script, { mode: 0o755 })
  return await mustRun(file, '', [CHECK, join(bin, 'backup')])
}

/** Languages that can be run; a block in another one, or in none, needs a mark. */
const runnable = ['sh', 'bash', 'python', 'js', 'cron']

for (const page of pages()) {
  const blocks = blocksOf(page)
  if (blocks.every(({ mark }) => mark !== null)) continue
  test.serial(`every example of ${page} works as printed`, async (t) => {
    for (const block of blocks) {
      if (block.mark !== null) continue
      t.true(runnable.includes(block.language), `${block.at} is not marked "<!-- not run: why -->"`)
      await t.notThrowsAsync(runBlock(block), block.at)
    }
  })
}

test('what is said to be run or compared elsewhere names a test that there is', (t) => {
  const tests = new Set(sourcesBelow('test').map((file) => basename(file)))
  for (const { at, mark } of pages().flatMap(blocksOf)) {
    for (const [name] of mark?.matchAll(/[\w.-]+\.test\.ts/g) ?? []) t.true(tests.has(name), `${at}: ${name}`)
    if (mark?.startsWith('run by')) t.regex(mark, /\.test\.ts/, at)
  }
})

test.serial('the lines that `make up` prints work when they are pasted at once, and again', async (t) => {
  const lines = printed.split('\n').filter((line) => /^ {2}(curl|TOKEN=|TX=|until|npm|export) ?/.test(line))
  t.true(lines.length >= 8, printed)
  for (let run = 1; run <= 2; run++) {
    const out = await bash(lines.map((line) => line.slice(2)).join('\n'))
    t.regex(out, /VERIFIED\npayloadSha256/)
  }
  t.regex(printed, new RegExp(`project id +${variables.PROJECT_ID}`))
})

test.serial('the pings of the pages arrived', async (t) => {
  const body = await bash(`curl -sS -H "X-Api-Key: $API_KEY" http://localhost:${ports.http}/api/v3/checks/${CHECK}`)
  t.true(JSON.parse(body).n_pings >= 10, body)
  t.true(existsSync(join(work, 'proof.json')))
})
