import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { parse } from 'csv-parse/sync'
import { MAPPINGS_CLAIM } from '#shared/risk/colending/mappings/registry.ts'
import { root } from '../support/imports.ts'
import { openClient } from '../support/platform-client.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { blocksRunBy, sharedProduct, shell } from './walkthrough.ts'

/** The commands of docs/securitisation.md, in order. */
const PAGE = 'docs/securitisation.md'
const blocks = blocksRunBy(PAGE, import.meta.filename)

test('a lender walks through docs/securitisation.md with curl: tape, row, pool, cut, receivable, bag', async (t) => {
  const product = await sharedProduct()
  const client = await openClient(product, product.url)
  const folder = temporaryFolder('securitisation')
  const script = blocks
    .map(({ text }) => text)
    .join('\n')
    .replace('http://localhost:8080', product.url)
    .replace('-H "x-api-key', "-H 'Prefer: wait=25' -H \"x-api-key")
  const env = { TOKEN: client.token, API_KEY: String(client.credentials.apiKey) }
  const { code, out } = await shell(script, { bin: product.bin, cwd: folder, ...env })
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

test('docs, OpenAPI and GET /mappings state that mappings are shims of payload styles and claim no partnership', async (t) => {
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
  const product = await sharedProduct()
  const client = await openClient(product, product.url)
  t.is((await client.get('/v1/colending/mappings')).json.claim, MAPPINGS_CLAIM)
})
