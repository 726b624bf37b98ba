import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import test from 'ava'
import { formatEnvFile } from '#shared/platform/process/local-env.ts'
import { ensureCredentials, exportLine, introduction } from '../../stack/credentials.ts'
import { tryScript } from '../../stack/try.ts'
import { adminOf } from '../support/admin.ts'
import { blocksOf, type DocBlock, pages } from '../support/doc-blocks.ts'
import { root, sourcesBelow } from '../support/imports.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { sharedProduct, type Walkthrough } from './walkthrough.ts'

const CHECK = 'f3b1c6a2-5d4e-4c1b-9a70-2e8d6b7c9f10'

const folder = temporaryFolder('signalbox-docs')
const bin = join(folder, 'bin')
const work = join(folder, 'work')

/** The running product, and what `make up` prints for it. */
interface Ground {
  product: Walkthrough
  printed: string
  variables: Record<string, string>
}

let ground: Promise<Ground> | undefined
const prepared = () => (ground ??= prepare())

async function prepare(): Promise<Ground> {
  const product = await sharedProduct()
  const admin = adminOf(product)
  const address = `http://localhost:${product.port}`
  const run = async (args: readonly string[]) => (await admin(...args)).stdout
  const credentials = await ensureCredentials(folder, run, address)
  const { pingKey } = credentials.project
  const printed = introduction(address, { open: address, pingKey, mailPage: undefined })
  for (const name of [bin, work]) mkdirSync(name)
  // An answer of 400 or more is a failure of the example, even if the example ignores it.
  writeFileSync(join(folder, '.curlrc'), 'fail\n')
  writeFileSync(join(folder, 'env'), formatEnvFile(product.env))
  writeFileSync(join(bin, 'backup'), '#!/bin/sh\necho "1204 files copied"\n', { mode: 0o755 })
  // The examples run as if in the checkout; the files that they write stay out of it.
  for (const name of readdirSync(root)) if (!name.startsWith('.')) symlinkSync(join(root, name), join(work, name))
  const variables = Object.fromEntries(
    [...exportLine(credentials, address).matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
  )
  const made = { product, printed, variables }
  await addMember(run, credentials.project.projectId)
  const check = { uuid: CHECK, name: 'of the pages', timeout: 86_400, grace: 3600 }
  await runIn(made, 'curl', '', [
    ...['-sS', '-o', 'check.json', '-H', `X-Api-Key: ${variables.API_KEY}`],
    ...[`${address}/api/v3/import?apply=1`, '-d', JSON.stringify({ checks: [check] })],
  ])
  return made
}

/** Adds the person that the pages name to the organisation of their project. */
async function addMember(run: (args: readonly string[]) => Promise<string>, projectId: string): Promise<void> {
  const projects: { projectId: string; organisation: string }[] = JSON.parse(await run(['project', 'list', '--json']))
  const organisation = projects.find((project) => project.projectId === projectId)?.organisation ?? ''
  const person = ['--email', 'anna@example.org', '--password', 'a password of the pages', '--role', 'member']
  await run(['user', 'create', ...person, '--organisation', organisation])
}

/** Returns an example with the addresses of this test instead of those of the page. */
function placed({ product: { port, mailPort } }: Ground, text: string): string {
  return text
    .replaceAll('http://localhost:8080', `http://localhost:${port}`)
    .replaceAll('https://signalbox.example.org', `http://localhost:${port}`)
    .replaceAll('smtp://signalbox.example.org:2525', `smtp://localhost:${mailPort}`)
    .replaceAll('"signalbox.example.org", 2525', `"localhost", ${mailPort}`)
    .replaceAll('/usr/local/bin/', `${bin}/`)
}

/**
 * Runs a program in the folder of the examples with a text as its standard input.
 * @param page README.md runs with the real npm, the other pages with the programs of walkthrough.ts
 */
async function runIn(
  { product, variables }: Ground,
  program: string,
  input: string,
  args: readonly string[],
  page = '',
): Promise<string> {
  const child = spawn(program, args, {
    cwd: work,
    timeout: 120_000,
    env: {
      ...variables,
      PATH: [bin, ...(page === 'README.md' ? [] : [product.bin]), process.env.PATH].join(':'),
      CURL_HOME: folder,
      LOCAL_ENV_FILE: join(folder, 'env'),
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

const bash = async (script: string, page?: string) =>
  await runIn(await prepared(), 'bash', script, ['--norc', '-e', '-o', 'pipefail', '-s'], page)

async function runBlock({ language, text, page }: DocBlock): Promise<string> {
  const made = await prepared()
  const script = placed(made, text)
  if (language === 'python') return await runIn(made, 'python3', script, ['-'])
  if (language === 'js') return await runIn(made, process.execPath, script, ['--input-type=module', '-'])
  // A line of a crontab: the text after the five fields of its schedule.
  if (language === 'cron') return await bash(script.replace(/^(?:\S+ ){5}/gm, ''))
  if (!text.startsWith('#!')) return await bash(script, page)
  const file = join(bin, basename(/^# (\S+)/m.exec(text)?.[1] ?? 'script'))
  writeFileSync(file, script, { mode: 0o755 })
  return await runIn(made, file, '', [CHECK, join(bin, 'backup')])
}

/** Languages that can be run; a block in another one, or in none, needs a directive. */
const runnable = ['sh', 'bash', 'python', 'js', 'cron']

for (const page of pages()) {
  const blocks = blocksOf(page)
  if (blocks.every(({ directive }) => directive !== null)) continue
  test.serial(`every example of ${page} works as printed`, async (t) => {
    for (const block of blocks) {
      if (block.directive !== null) continue
      t.true(runnable.includes(block.language), `${block.at} is not marked "<!-- not run: why -->"`)
      await t.notThrowsAsync(runBlock(block), block.at)
    }
  })
}

test('directives of blocks that run elsewhere name existing tests', (t) => {
  const tests = new Set(sourcesBelow('test').map((file) => basename(file)))
  for (const { at, directive } of pages().flatMap(blocksOf)) {
    for (const [name] of directive?.matchAll(/[\w.-]+\.test\.ts/g) ?? []) t.true(tests.has(name), `${at}: ${name}`)
    if (directive?.startsWith('run by')) t.regex(directive, /\.test\.ts/, at)
  }
})

test.serial('the ping that `make up` prints creates a check', async (t) => {
  const { printed } = await prepared()
  const [, line = ''] = /^ {2}Ping this +(curl .+)$/m.exec(printed) ?? []
  t.regex(await bash(line), /Created$/)
})

test.serial('the steps of `make try` verify a pack, and run again', async (t) => {
  const { product } = await prepared()
  for (let run = 1; run <= 2; run++)
    t.regex(await bash(tryScript(`http://localhost:${product.port}`, folder)), /VERIFIED\nSANDBOX: NOT EVIDENCE/)
})

test.serial('the pings of the pages arrived', async (t) => {
  const { product } = await prepared()
  const body = await bash(`curl -sS -H "X-Api-Key: $API_KEY" http://localhost:${product.port}/api/v3/checks/${CHECK}`)
  t.true(JSON.parse(body).n_pings >= 10, body)
  t.true(existsSync(join(work, 'proof.json')))
})
