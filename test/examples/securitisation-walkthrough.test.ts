import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import test from 'ava'
import { parse } from 'csv-parse/sync'
import { MAPPINGS_CLAIM } from '#shared/risk/colending/mappings/registry.ts'
import { blocksOf } from '../support/doc-blocks.ts'
import { root } from '../support/imports.ts'
import { openClient } from '../support/platform-client.ts'
import { openProduct } from '../support/product.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The commands of docs/securitisation.md, in order. */
const PAGE = 'docs/securitisation.md'
const blocks = blocksOf(PAGE).filter(({ mark }) => mark?.includes(basename(import.meta.filename)))

async function shell(script: string, cwd: string, env: Record<string, string>): Promise<{ code: number; out: string }> {
  const child = spawn('bash', ['--norc', '-c', script], {
    cwd,
    env: { PATH: process.env.PATH ?? '', HOME: cwd, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (data) => (out += data))
  return await new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? -1, out })))
}

test('a lender walks through docs/securitisation.md with curl: tape, row, pool, cut, receivable, bag', async (t) => {
  await using product = await openProduct({ env: { CHECKPOINT_DIR: temporaryFolder('checkpoints') } })
  const { base } = await product.ingress()
  await product.workers(['tape-importer', 'pool-builder', 'anchor'])
  const client = await openClient(product, base)
  const folder = temporaryFolder('securitisation')
  const script = blocks
    .map(({ text }) => text)
    .join('\n')
    .replace('http://localhost:8080', base)
    .replace('-H "x-api-key', "-H 'Prefer: wait=25' -H \"x-api-key")
    .replaceAll(/npm run -s verify -- (\S+)(?: --proof (\S+))?/g, (_, file, proof) =>
      [
        `npm --prefix ${root} run -s verify -- ${folder}/${file}`,
        ...(proof === undefined ? [] : [`--proof ${folder}/${proof}`]),
      ].join(' '),
    )
  const env = { TOKEN: client.token, API_KEY: String(client.credentials.apiKey) }
  const { code, out } = await shell(`set -e\n${script}`, folder, env)
  t.is(code, 0, out)
  t.deepEqual(out.match(/^(VERIFIED|PARTIAL|FAILED)$/gm), ['VERIFIED', 'VERIFIED', 'VERIFIED'], out)

  const text = async (name: string) => await readFile(join(folder, name), 'utf8')
  const json = async (name: string) => JSON.parse(await text(name))
  t.like(await json('import.json'), {
    status: 'COMPLETED_WITH_ERRORS',
    counts: { records: 6, accepted: 2, rejected: 1, skipped: 2 },
    errors: [{ line: 5, column: 'loan_amnt', code: 'NOT_MONEY' }],
  })
  t.like(parse(await text('errors.csv'), { columns: true })[0], { line: '5', column: 'loan_amnt', code: 'NOT_MONEY' })
  for (const name of ['import.json', 'errors.csv']) t.notRegex(await text(name), /five thousand/)
  t.like(await json('cut.json'), { size: 1_000, root: (await json('root.json')).root })
  t.is(parse(await text('pool-tape.csv')).length, 1_001)
  t.is(parse(await text('pool-tape-esma.csv')).length, 1_001)
  t.is((await json('strata.json')).size, 1_000)
  t.deepEqual((await json('replines.json')).replines.length, 1)
  t.deepEqual((await json('eligibility.json')).byRule, [
    { id: 'small', counts: { MET: 500, NOT_MET: 500, MISSING: 0 } },
    { id: 'accepted', counts: { MET: 0, NOT_MET: 0, MISSING: 1_000 } },
  ])
})

test('that mappings are shims of payload styles and claim no partnership stands in docs, OpenAPI and GET /mappings', async (t) => {
  for (const page of [PAGE, 'docs/families.md']) {
    t.true((await readFile(join(root, page), 'utf8')).includes(MAPPINGS_CLAIM), page)
  }
  const { paths } = JSON.parse(await readFile(join(root, 'docs/openapi.json'), 'utf8'))
  for (const [path, method] of [
    ['/v1/colending/loan-tapes', 'post'],
    ['/v1/colending/bureau-files', 'post'],
    ['/v1/colending/mappings', 'get'],
  ] as const)
    t.true(paths[path][method].description.includes(MAPPINGS_CLAIM), path)
  await using product = await openProduct({ isBound: true })
  const { base } = await product.ingress()
  const client = await openClient(product, base)
  t.is((await client.get('/v1/colending/mappings')).json.claim, MAPPINGS_CLAIM)
})
