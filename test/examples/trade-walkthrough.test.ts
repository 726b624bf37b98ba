import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import test from 'ava'
import { blocksOf } from '../support/doc-blocks.ts'
import { root } from '../support/imports.ts'
import { openClient } from '../support/platform-client.ts'
import { openProduct } from '../support/product.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The commands of docs/trade.md, in order. */
const blocks = blocksOf('docs/trade.md').filter(({ mark }) => mark?.includes(basename(import.meta.filename)))

async function shell(script: string, cwd: string, env: Record<string, string>): Promise<number> {
  const child = spawn('bash', ['--norc', '-c', script], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return await new Promise((resolve) => child.once('close', (code) => resolve(code ?? -1)))
}

test('an exporter walks through docs/trade.md with curl, and its bag verifies with the verifier alone', async (t) => {
  await using product = await openProduct({ env: { CHECKPOINT_DIR: temporaryFolder('checkpoints') } })
  const { base } = await product.ingress()
  await product.workers(['provenance-composer', 'anchor'])
  const client = await openClient(product, base)
  const folder = temporaryFolder('trade')
  const script = blocks
    .map(({ text }) => text)
    .join('\n')
    .replace('http://localhost:8080', base)
    .replace('-H "x-idempotency-key', "-H 'Prefer: wait=25' -H \"x-idempotency-key")
    .replaceAll(/npm run -s verify -- (\S+) --evidence-keys keys.json/g, (_, file) =>
      [`npm --prefix ${root} run -s verify -- ${folder}/${file}`, `--evidence-keys ${folder}/keys.json`].join(' '),
    )
  t.is(await shell(`set -e\n${script}`, folder, { TOKEN: client.token }), 0)
  const json = async (name: string) => JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'))
  t.like(await json('verified'), { valid: true, reasons: [] })
  const chain = (await json('pack')).checks.find(({ key }: { key: string }) => key === 'chain.invoice')
  t.like(chain, { result: 'MATCH', tier: 'SELF_DECLARED' })
})
