import { randomUUID } from 'node:crypto'
import test from 'ava'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { eventually } from '../../support/eventually.ts'
import { openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { blindFingerprints, receivable, register } from '../api-risk/financing-support.ts'
import { createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let base: string
let member: Visitor
let reader: Visitor

test.before(async () => {
  app = await sharedProduct({ workers: ['financing-registrar'] })
  team = await createTeam(app, 'Acme <Finance>')
  await grantFamilies(app.deps.db, team.organisationId, ['first-financing'])
  base = `/organisations/${team.organisationUuid}/risk/sandbox`
  member = await join(app, team, 'member')
  reader = await join(app, team, 'read-only')
})

async function submit(fields: Record<string, string>) {
  const path = `${base}/financing/check-blind`
  const answer = await member.post(path, { requestKey: randomUUID(), ...fields }, path)
  return { ...answer, next: answer.headers.location ?? '' }
}

const pageWith = (path: string, part: string) =>
  eventually(`${part} on ${path}`, async () => {
    const { text } = await member.get(path)
    return text.includes(part) && text
  })

const audited = async () => {
  const action = 'receivable.checked-blind'
  return (await app.deps.db('audit_log').where({ organisation_id: team.organisationId, action })).length
}

test('the page sends only the fingerprints of a receivable', async (t) => {
  const invoice = receivable()
  const other = await openClient(app, app.url)
  t.is((await register(other, invoice)).status, 201)
  const fingerprints = JSON.stringify(await blindFingerprints(other, invoice))
  const form = (await member.get(`${base}/financing/check-blind`)).text
  t.true(form.includes('name="fingerprints"'))
  t.false(form.includes('supplierGstin'))
  const sent = await submit({ fingerprints, statement: 'on' })
  t.is(sent.status, 303, sent.text)
  const page = await pageWith(sent.next, 'another organisation')
  for (const part of ['duplicate registered', 'Same document', 'fingerprints only', 'SHA-256 of the record'])
    t.true(page.includes(part), part)
  for (const field of [invoice.supplierGstin, invoice.documentNumber]) t.false(page.includes(field), field)
  t.is(await audited(), 1)
  for (const wrong of ['{not json', '[]', '[{"epoch":1}]', fingerprints.replace(/"epoch":\d+/, '"epoch":99')]) {
    const refused = await submit({ fingerprints: wrong })
    t.is(refused.status, 422, wrong)
    t.true(refused.text.includes('id="fingerprints-error"'), wrong)
  }
  t.is((await reader.get(`${base}/financing/check-blind`)).status, 403)
})
