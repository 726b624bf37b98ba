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

test('a pool is listed, cut on a form, and its strata are shown with small bars and the anchor of the cut', async (t) => {
  const list = await member.get(`${base}/pools`)
  t.regex(list.text, /Pool &lt;7>/)
  t.regex(list.text, /D-7/)
  const path = `${base}/pools/${poolId}`
  t.regex((await member.get(path)).text, /There is no cut yet/)
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
  t.regex(text, /missing/)
  t.regex(text, /npm run -s verify/)
  t.notRegex(text, /29AAACR|27AAACB/)
  t.is((await app.deps.db('pool_cuts').where({ pool_id: poolId })).length, 1, 'a form sent twice cuts once')
  t.is((await app.deps.db('audit_log').where({ action: 'pool.cut' })).length, 1)
  const { text: own } = await member.get(`${path}?cut=${randomUUID()}`)
  t.regex(own, /Largest buyers/)
})

test('readers see pools and change nothing; others see none of them', async (t) => {
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
