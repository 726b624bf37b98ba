import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'
import test from 'ava'
import type { WorkerDeps } from '../../workers/define-worker.ts'
import { blocksOf, type DocBlock } from '../support/doc-blocks.ts'
import { root } from '../support/imports.ts'
import { type HttpProduct, MAIL_DOMAIN, openProduct, waitForEveryBarrier } from '../support/product.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { compileCache, readTypescript } from '../support/typescript-process.ts'

/** A product with all workers and both listeners, and the folder of the programs that pages call. */
export interface Walkthrough extends HttpProduct {
  worker: WorkerDeps
  mailPort: number
  bin: string
}

const resources = new AsyncDisposableStack()
let opening: Promise<Walkthrough> | undefined
test.after.always('close the product of the walkthroughs', () => resources.disposeAsync())

/** Opens one product for all walkthroughs of a process; each page works in a separate organisation. */
export function sharedProduct(): Promise<Walkthrough> {
  opening ??= open()
  return opening
}

async function open(): Promise<Walkthrough> {
  const env = { CHECKPOINT_DIR: temporaryFolder('checkpoints'), PING_EMAIL_DOMAIN: MAIL_DOMAIN }
  const product = resources.use(await openProduct({ listener: 'http', hasRowSecurity: true, workers: [], env }))
  const worker = await product.workers()
  waitForEveryBarrier(product.deps)
  const { port: mailPort } = await product.mail()
  return Object.assign(product, { worker, mailPort, bin: await openPrograms(product, resources) })
}

/**
 * Makes the programs `npm` and `node` for the PATH of a page. `npm run -s verify` and `node --import tsx` start the
 * same files as the real ones without the start of npm and of tsx, `npm run -s admin` runs in this process. The examples
 * of README.md run with the real programs (documentation.test.ts).
 */
export async function openPrograms(product: HttpProduct, closing: AsyncDisposableStack): Promise<string> {
  const bin = temporaryFolder('programs')
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const args = Buffer.concat(chunks).toString().split('\n').slice(0, -1)
    // Loaded on demand: all commands of the operator take a second of processor time.
    const { adminOf } = await import('../support/admin.ts')
    const { status, stdout, stderr } = await adminOf(product)(...args)
    response.writeHead(status === 0 ? 200 : 422).end(stdout + stderr)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  closing.defer(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const program = (name: string, lines: readonly string[]) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${lines.join('\n')}\n`, { mode: 0o755 })
  const node = `exec '${process.execPath}'`
  const cache = Object.entries(compileCache()).map(([name, value]) => `export ${name}='${value}'`)
  program('node', [
    ...cache,
    `if [ "$1 $2" = '--import tsx' ]; then shift 2; ${node} '${readTypescript}' "$@"; fi`,
    `${node} "$@"`,
  ])
  program('npm', [
    ...cache,
    'name=$3; shift 4',
    `if [ "$name" = admin ]; then printf '%s\\n' "$@" | curl -q -sS --fail-with-body --data-binary @- http://127.0.0.1:${port}/; exit; fi`,
    `if [ "$name" = verify ]; then ${node} '${readTypescript}' '${join(root, 'shared/transparency/anchoring/verify-cli.ts')}' "$@"; fi`,
    'echo "no script $name here" >&2; exit 2',
  ])
  return bin
}

/** Returns the blocks of a page whose directives name a test file that runs them, in order. */
export function blocksRunBy(page: string, file: string): DocBlock[] {
  return blocksOf(page).filter(({ directive }) => directive?.includes(basename(file)))
}

/** Runs a script of bash, by default with the real npm and node. Returns its exit status and all its output. */
export async function shell(
  script: string,
  { bin, cwd, input = '', ...env }: { bin?: string; cwd?: string; input?: string } & Record<string, string>,
): Promise<{ code: number; out: string }> {
  const child = spawn('bash', ['--norc', '-c', `set -e\n${script}`], {
    ...(cwd !== undefined && { cwd }),
    env: {
      PATH: [...(bin === undefined ? [] : [bin]), process.env.PATH].join(':'),
      ...(cwd !== undefined && { HOME: cwd }),
      ...env,
    },
  })
  let out = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const code = await new Promise<number>((resolve) => child.once('close', (status) => resolve(status ?? -1)))
  return { code, out }
}
