import { spawn } from 'node:child_process'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import test from 'ava'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { blocksOf } from '../support/doc-blocks.ts'
import { root } from '../support/imports.ts'
import { openClient } from '../support/platform-client.ts'
import { openProduct } from '../support/product.ts'

/** The commands of docs/families.md, in order. */
const blocks = blocksOf('docs/families.md').filter(({ mark }) => mark?.includes(basename(import.meta.filename)))

async function shell(script: string, cwd: string, env: Record<string, string>): Promise<number> {
  const child = spawn('bash', ['--norc', '-c', script], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return await new Promise((resolve) => child.once('close', (code) => resolve(code ?? -1)))
}

test('two organisations walk through docs/families.md with curl, and every object verifies offline', async (t) => {
  await using product = await openProduct({ env: { CHECKPOINT_DIR: await mkdtemp(join(tmpdir(), 'checkpoints-')) } })
  const { base } = await product.ingress()
  await product.workers(['financing-registrar', 'kyb-verifier', 'acceptance-recorder', 'dilution-measurer', 'anchor'])
  const [one, other] = [await openClient(product, base), await openClient(product, base)]
  const folder = await mkdtemp(join(tmpdir(), 'families-'))
  const script = blocks
    .map(({ text }) => text)
    .join('\n')
    .replace('http://localhost:8080', base)
    .replace('npm run -s verify --', `npm --prefix ${root} run -s verify --`)
    .replace('-- $OBJECT.json --proof proof.json', `-- ${folder}/$OBJECT.json --proof ${folder}/proof.json`)
  const code = await shell(`set -e\n${script}`, folder, { TOKEN: one.token, OTHER: other.token })
  t.is(code, 0)
  const json = async (name: string) => JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8'))
  t.regex((await json('verification')).vei, /^[A-Z2-7]{25}[0-9A-Z]$/)
  t.is((await json('financed')).state, 'FINANCED')
  t.is((await json('check')).status, 'DUPLICATE_FINANCED')
  t.is((await json('dispute')).state, 'OPEN')
  t.is((await json('acceptance')).tier, 'REGISTRY_VERIFIED')
  t.is((await json('timeline')).summary.dilutionBps, 500)
  t.is((await json('dilution')).acceptance.accepted, 1)
  for (const name of ['financed', 'dispute']) {
    const { record } = await json(name)
    t.is(record.anchor.payloadSha256, payloadSha256(record))
  }
})
