import { randomUUID } from 'node:crypto'
import test from 'ava'
import { createSecrets } from '#shared/platform/process/secrets.ts'
import { createClient } from '../../../ingress/admin/create-client.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { consumerOf, item } from '../api-risk/pools-support.ts'
import { createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let base: string
let member: Visitor
let reader: Visitor
let stranger: Visitor
let poolId = ''

test.before(async () => {
  app = await sharedProduct({ workers: ['pool-builder', 'anchor'] })
  team = await createTeam(app, 'Acme <Pools>')
  base = `/organisations/${team.organisationUuid}/risk/sandbox`
  const credentials = await createClient(app.deps.db, createSecrets(app.deps.config.secretKey), {
    name: 'Acme <Pools>',
    env: 'SANDBOX',
    families: ['securitisation'],
    scopes: [],
    hasApiKey: true,
    hasLmsSecret: false,
  })
  const receivables = [item('R-1'), item('R-2', { dueDate: undefined }), item('R-3', { amountInr: 2_000_000 })]
  const made = await consumerOf(app.url, { credentials }).post('/pools', {
    name: 'Pool <7>',
    dealId: 'D-7',
    receivables,
  })
  poolId = made.json.poolId
  member = await join(app, team, 'member')
  reader = await join(app, team, 'read-only')
  stranger = await join(app, await createTeam(app, 'Other'), 'owner')
})

test('a pool is cut on a form, and the cut shows strata and anchor', async (t) => {
  const list = await member.get(`${base}/pools`)
  t.regex(list.text, /Pool &lt;7>/)
  t.regex(list.text, /D-7/)
  const path = `${base}/pools/${poolId}`
  const uncut = await eventually('the evidence', async () => {
    const page = await member.get(path)
    return page.text.includes('All evidence is recorded') && page.text
  })
  t.regex(uncut, /Next step[\s\S]*A cut freezes[\s\S]*href="[^"]+\/cut">Create a cut/)
  t.regex(uncut, /R-3<\/td><td[^>]*>₹20,00,000\.00</, 'the page lists the receivables')
  const form = { requestKey: randomUUID(), cutOffDate: '2026-13-01' }
  t.is((await member.post(`${path}/cut`, form, `${path}/cut`)).status, 422)
  const sent = { requestKey: randomUUID(), cutOffDate: '2026-06-30' }
  const cut = await member.post(`${path}/cut`, sent, `${path}/cut`)
  t.is(cut.headers.location, path, cut.text)
  t.is((await member.post(`${path}/cut`, sent, `${path}/cut`)).headers.location, path)
  const text = await eventually('the strata of the cut', async () => {
    const page = await member.get(path)
    return page.text.includes('Largest buyers') && page.text
  })
  t.regex(text, /₹22\.36 lakh/)
  t.regex(text, /up to 1 crore[\s\S]*class="stratum"/)
  t.regex(text, /no due date/)
  t.regex(text, /Average days to due, by amount<\/dt><dd[^>]*>\d+ days</)
  t.regex((await member.get(`${base}/pools`)).text, /complete<\/span><\/td><td[^>]*>30 Jun 2026/)
  const [, cutId = ''] = /cut=([0-9a-f-]{36})/.exec(text) ?? []
  const tape = await reader.get(`${path}/cuts/${cutId}/tape.csv`)
  t.regex(String(tape.headers['content-disposition']), /attachment; filename="pool-[0-9a-f]{8}-tape\.csv"/)
  t.is(tape.text.trim().split('\n').length, 4, 'a header and three receivables')
  t.is((await reader.get(`${path}/cuts/${cutId}/other.csv`)).status, 404)
  t.is((await stranger.get(`${path}/cuts/${cutId}/tape.csv`)).status, 404)
  t.regex(text, /npm run -s verify/)
  t.notRegex(text, /29AAACR|27AAACB/)
  t.is(
    (await app.deps.db('pool_cuts').where({ pool_id: poolId })).length,
    1,
    'a form that is sent twice creates one cut',
  )
  t.is((await app.deps.db('audit_log').where({ action: 'pool.cut' })).length, 1)
  const { text: own } = await member.get(`${path}?cut=${randomUUID()}`)
  t.regex(own, /Largest buyers/)
})

test('readers cannot change pools, other organisations cannot see them', async (t) => {
  const path = `${base}/pools/${poolId}`
  const { status, text } = await reader.get(path)
  t.is(status, 200)
  t.notRegex(text, /href="[^"]*\/cut"/)
  t.is((await reader.get(`${path}/cut`)).status, 403)
  t.is((await stranger.get(path)).status, 404)
  const { organisationUuid } = await createTeam(app, 'Third')
  t.is((await member.get(`/organisations/${organisationUuid}/risk/sandbox/pools`)).status, 404)
  t.is((await member.get(`${base}/pools/${randomUUID()}`)).status, 404)
  t.is((await member.get(`${base}/pools/x`)).status, 404)
})

const BOUNDARY = '----formBoundaryOfTests'

/** Sends a form with a file, as a browser without scripts does. */
async function sendFile(path: string, file: string, fields: Record<string, string> = {}) {
  const sent = { _csrf: await member.token(`${base}${path}`), requestKey: randomUUID(), ...fields }
  const parts = Object.entries(sent).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  const head = 'Content-Disposition: form-data; name="file"; filename="pool.csv"\r\nContent-Type: text/csv'
  const body = `${parts.join('')}--${BOUNDARY}\r\n${head}\r\n\r\n${file}\r\n--${BOUNDARY}--\r\n`
  return await member.sendBody(`${base}${path}`, body, { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` })
}

test('a pool is created from CSV files, and an error names its line', async (t) => {
  const form = await member.get(`${base}/pools/new`)
  t.regex(form.text, /<td class="mono">receivableId<\/td><td data-label="Contains">Your own reference<\/td>/)
  const sample = (await member.get(`${base}/pools/sample.csv`)).text
  const once = { name: 'From a <file>', dealId: 'D-8', requestKey: randomUUID() }
  const made = await sendFile('/pools/new', sample, once)
  t.is(made.status, 303, made.text)
  const path = String(made.headers.location).replace(base, '')
  t.is(
    (await sendFile('/pools/new', sample, once)).headers.location,
    made.headers.location,
    'a form that is sent twice',
  )
  const [header = '', row = ''] = sample.split('\r\n')
  const more = row.replace('R-001', 'R-002').replace('INV/001', 'INV/002')
  t.is((await sendFile(`${path}/add`, `${header}\n${more}\n`)).headers.location, made.headers.location)
  const page = await eventually('the evidence of both', async () => {
    const { text } = await member.get(base + path)
    return /With evidence<\/dt><dd[^>]*>2 of 2</.test(text) && text
  })
  t.regex(page, /From a &lt;file>/)

  const cases: [string, RegExp][] = [
    [`${header}\n${row}\n`, /pool\.csv was not stored[\s\S]*Line 2: the pool has a receivable of this reference/],
    [
      `${header}\n${more.replace('INV/002', 'INV/003').replace('R-002', 'R-003').replace('2026-05-01', 'secret-cell')}\n`,
      /Line 2: documentDate must be a date YYYY-MM-DD/,
    ],
    [`${header}\n${more.replace('118000.00', '1,18,000')}\n`, /Line 2: has 10 cells, the header has 8/],
    [
      `${header},amountInr\n${more.replace('INV/002', 'INV/004').replace('R-002', 'R-004')},7\n`,
      /The header names amountInr twice/,
    ],
    ['a,b\n1,2\n', /The header lacks receivableId, supplierGstin/],
    ['', /Choose a file that is not empty/],
    ['x'.repeat(600_000), /larger than 512 KiB/],
  ]
  for (const [file, message] of cases) {
    const answer = await sendFile(`${path}/add`, file)
    t.is(answer.status, 422, String(message))
    t.regex(answer.text, message)
    t.false(answer.text.includes('secret-cell'))
  }
  t.is((await sendFile('/pools/new', sample)).status, 422, 'a name is required')
  t.is((await app.deps.db('pools').where({ name: 'From a <file>' })).length, 1)
  t.is((await app.deps.db('pool_members').where({ pool_id: path.split('/').at(-1) })).length, 2)
  for (const form of ['/pools/new', `${path}/add`]) {
    t.is((await reader.get(base + form)).status, 403)
    t.is((await stranger.get(base + form)).status, 404)
  }
})
