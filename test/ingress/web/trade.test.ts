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
let stranger: Visitor

test.before(async () => {
  app = await sharedProduct({ workers: ['provenance-composer', 'anchor'] })
  team = await createTeam(app, 'Acme <Exports>')
  base = `/organisations/${team.organisationUuid}/risk/sandbox/trade`
  await grantFamilies(app.deps.db, team.organisationId, ['trade'])
  member = await join(app, team, 'member')
  reader = await join(app, team, 'read-only')
  stranger = await join(app, await createTeam(app, 'Other'), 'owner')
})

/** Submits a form and returns the next path. */
async function sent(path: string, fields: Record<string, string>): Promise<string> {
  const { status, headers, text } = await member.post(`${base}${path}`, { requestKey: randomUUID(), ...fields })
  if (status !== 303) throw new Error(`${status}: ${text}`)
  return String(headers.location)
}

const SHA256 = 'ab'.repeat(32)

test.serial('a trade pack is created from recorded documents with its files', async (t) => {
  const empty = (await member.get(base)).text
  t.regex(empty, /No packs yet[\s\S]*class="button primary"[^>]*>Record a document</)
  const invoice = { type: 'COMMERCIAL_INVOICE', sha256: SHA256, 'metadata.invoiceNumber': 'EXP/4821907' }
  const recorded = await sent('/documents/new', invoice)
  const paper = (await member.get(recorded)).text
  for (const part of ['<h1>Commercial invoice</h1>', SHA256, 'Next step', 'SHA-256 of the record'])
    t.true(paper.includes(part), part)
  const [, build = ''] = /href="([^"]+)">Build a pack with it</.exec(paper) ?? []
  t.regex((await member.get(build)).text, /name="documents" value="[^"]+" checked/)
  t.notRegex((await reader.get(recorded)).text, /Next step/)
  t.is((await stranger.get(recorded)).status, 404)
  await sent('/documents/new', { type: 'PACKING_LIST', sha256: 'cd'.repeat(32) })
  const documents = (await member.get(`${base}/documents`)).text
  t.true(documents.indexOf('cd'.repeat(32)) < documents.indexOf(SHA256), 'the newest first')
  t.notRegex(documents, /EXP\/4821907/)
  const bill = { iec: 'AAACR5678D', number: '4821907', date: '2026-03-14', portCode: 'INNSA1' }
  const verification = await sent('/verify/shipping-bill', bill)
  const found = await eventually('the registry to answer', async () => {
    const { text } = await member.get(verification)
    return text.includes('shippingBill.exists') && text
  })
  t.regex(found, /npm run -s verify/)
  t.true((await member.get(`${base}/verifications`)).text.includes(verification))
  const form = (await member.get(`${base}/packs/new`)).text
  const [packing = '', invoiceId = ''] = [...form.matchAll(/name="documents" value="([^"]+)"/g)].map(
    ([, id]) => id ?? '',
  )
  const checkId = /name="checks" value="([^"]+)"/.exec(form)?.[1] ?? ''
  const _csrf = await member.token(`${base}/packs/new`)
  const fields = new URLSearchParams({ _csrf, requestKey: randomUUID(), title: 'Hamburg <March>', checks: checkId })
  for (const id of [packing, invoiceId]) fields.append('documents', id)
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const made = await member.sendBody(`${base}/packs/new`, fields.toString(), type)
  t.is(made.status, 303, made.text)
  const path = String(made.headers.location)
  t.is((await member.sendBody(`${base}/packs/new`, fields.toString(), type)).headers.location, path)
  const page = await eventually('the pack to be issued', async () => {
    const { text } = await member.get(path)
    return text.includes('summary.pdf') && text
  })
  t.regex(page, /Hamburg &lt;March>/)
  t.regex(page, /4 of 4 match/)
  const list = (await member.get(base)).text
  t.regex(list, /class="button primary"[^>]*>Build a pack<[\s\S]*More actions[\s\S]*Verify an e-BRC/)
  t.regex(page, /chain\.invoice/)
  t.true(page.indexOf('cd'.repeat(32)) < page.indexOf(SHA256), 'in the order of the form')
  t.true((await member.get(base)).text.includes(path))
  const bundle = JSON.parse((await member.get(`${path}/bundle.json`)).text)
  t.is(bundle.envelope.payloadType, 'application/vnd.in-toto+json')
  t.is((await member.get(`${path}/bag.zip`)).bytes.subarray(0, 2).toString(), 'PK')
  t.is((await member.get(`${path}/summary.pdf`)).bytes.subarray(0, 5).toString(), '%PDF-')
  t.is((await member.get(`${path}/other`)).status, 404)
  const noted = await app.deps.db('audit_log').where('action', 'like', 'trade.%').select('action')
  t.deepEqual(noted.map(({ action }) => action).sort(), [
    'trade.document_recorded',
    'trade.document_recorded',
    'trade.pack_issued',
    'trade.verified',
  ])
  for (const hidden of ['', '/bundle.json', '/bag.zip', '/summary.pdf']) {
    t.is((await stranger.get(`${path}${hidden}`)).status, 404)
    const own = path.replace(team.organisationUuid, await uuidOf('Other'))
    t.is((await stranger.get(`${own}${hidden}`)).status, 404)
  }
})

async function uuidOf(name: string): Promise<string> {
  return (await app.deps.db('organisations').where({ name }).first('uuid')).uuid
}

test('errors are shown at fields, and foreign documents are refused', async (t) => {
  const wrong = await member.post(`${base}/documents/new`, { requestKey: randomUUID(), type: 'OTHER', sha256: 'x' })
  t.is(wrong.status, 422)
  t.regex(wrong.text, /id="sha256-error"/)
  const none = await member.post(`${base}/packs/new`, { requestKey: randomUUID(), title: 'none' })
  t.is(none.status, 422)
  t.regex(none.text, /<fieldset class="wrong">/)
  // A fast worker refuses in the response, a slow one on the waiting page.
  const foreign = await member.post(`${base}/packs/new`, { requestKey: randomUUID(), documents: randomUUID() })
  const status = await eventually('the refusal', async () => {
    const answer = foreign.status === 303 ? await member.get(String(foreign.headers.location)) : foreign
    return answer.status === 200 ? undefined : answer.status
  })
  t.is(status, 404)
  t.is((await member.get(`${base}/packs/${randomUUID()}`)).status, 404)
})

test('readers see packs and cannot create them', async (t) => {
  const { status, text } = await reader.get(base)
  t.is(status, 200)
  t.notRegex(text, /packs\/new/)
  for (const form of ['/packs/new', '/documents/new', '/verify/iec'])
    t.is((await reader.get(`${base}${form}`)).status, 403)
  t.is((await stranger.get(base)).status, 404)
})
