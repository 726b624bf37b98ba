import test from 'ava'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join, type Team } from './people.ts'
import { createVisitor, type Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let strangers: Team
let base: string
let member: Visitor
let reader: Visitor
let stranger: Visitor

test.before(async () => {
  app = await sharedProduct()
  team = await createTeam(app, 'Acme <Finance>')
  await grantFamilies(app.deps.db, team.organisationId, ['kyb', 'first-financing', 'acceptance', 'risk-signals'])
  base = `/organisations/${team.organisationUuid}/risk/sandbox`
  member = await join(app, team, 'member')
  reader = await join(app, team, 'read-only')
  strangers = await createTeam(app, 'Other')
  stranger = await join(app, strangers, 'owner')
})

const forms = [
  '/businesses/verify',
  '/financing/check',
  '/financing/register',
  '/financing/accept',
  '/financing/dispute',
  '/acceptance/record',
  '/acceptance/adjust',
  '/acceptance/ask',
  '/acceptance/measure',
]

for (const path of forms)
  test(`only members of an entitled organisation can open ${path}`, async (t) => {
    t.is((await member.get(base + path)).status, 200)
    t.is((await reader.get(base + path)).status, 403)
    t.is((await stranger.get(base + path)).status, 404)
    const own = base.replace(team.organisationUuid, strangers.organisationUuid)
    t.is((await stranger.get(own + path)).status, 403, 'not entitled')
    t.is((await createVisitor(app.url).get(base + path)).status, 303, 'a visitor is redirected to the sign-in')
    t.is((await member.post(base + path, { requestKey: 'not-a-key' })).status, 404)
  })

test('lists contain one organisation and environment only', async (t) => {
  for (const tab of ['businesses', 'financing', 'acceptance']) {
    t.is((await reader.get(`${base}/${tab}`)).status, 200)
    t.is((await stranger.get(`${base}/${tab}`)).status, 404)
    const production = await member.get(`${base.replace('sandbox', 'production')}/${tab}`)
    t.regex(production.text, /class="card empty-card"/)
  }
})
