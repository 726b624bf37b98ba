import { randomUUID } from 'node:crypto'
import test from 'ava'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let base: string
let member: Visitor
let reader: Visitor

test.before(async () => {
  app = await sharedProduct({ workers: ['pack-composer', 'anchor', 'sweeper'] })
  team = await createTeam(app, 'Acme')
  await grantFamilies(app.deps.db, team.organisationId, ['risk-signals'])
  base = `/organisations/${team.organisationUuid}/risk/sandbox`
  member = await join(app, team, 'member')
  reader = await join(app, team, 'read-only')
})

/** Requests a pack on the form. Returns its id. */
async function makePack(fields: Record<string, string> = {}): Promise<string> {
  const { headers } = await member.post(`${base}/packs/new`, {
    buyerGstin: '27AAACB1234C1ZF',
    borrowerGstin: '29AAACR5678D1Z5',
    subcontractorGstin: '24AAFFS4321K1ZA',
    poValue: '12,50,000',
    requestKey: randomUUID(),
    ...fields,
  })
  const id = headers.location?.split('/').at(-1) ?? ''
  await eventually('the pack', async () => (await member.get(`${base}/packs/${id}/json`)).status === 200)
  return id
}

test('two packs are compared value by value', async (t) => {
  const [pack, other] = [await makePack(), await makePack({ poValue: '2600000.50' })]
  const { text } = await reader.get(`${base}/compare?pack=${pack}&pack=${other}`)
  t.regex(text, /₹12,50,000\.00 <small[^>]*>\(12\.50 lakh\)/)
  t.regex(text, /₹26,00,000\.50 <small[^>]*>\(26\.00 lakh\)/)
  t.true(text.includes('differs'))
  t.regex(text, /\d+ values differ, in \d+ of \d+ signals\./)
  const three = await reader.get(`${base}/compare?pack=${pack}&pack=${other}&pack=${pack}`)
  t.true(three.text.includes('You selected 3 packs'))
  t.true((await reader.get(`${base}/compare?pack=${pack}`)).text.includes('Select two packs'))
})

test('a pack that is not composed cannot be compared', async (t) => {
  const pack = await makePack()
  const { rows } = await app.deps.db.raw<{ rows: { id: string }[] }>(
    `INSERT INTO packs (id, organisation_id, env, sealed_request, requested_at)
     VALUES (gen_random_uuid(), ?, 'SANDBOX', '', now() - interval '1 year') RETURNING id`,
    [team.organisationId],
  )
  t.is((await reader.get(`${base}/compare?pack=${pack}&pack=${rows[0]?.id}`)).status, 404)
})
