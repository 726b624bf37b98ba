import { randomUUID } from 'node:crypto'
import test from 'ava'
import { grantFamilies } from '#shared/tenancy/organisations/store.ts'
import { eventually } from '../../support/eventually.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { HEADER, note, SMALL_TAPE } from '../api-risk/imports-support.ts'
import { createTeam, join, type Team } from './people.ts'
import type { Visitor } from './visitor.ts'

let app: HttpProduct
let team: Team
let base: string
let member: Visitor
let reader: Visitor

test.before(async () => {
  app = await sharedProduct({ workers: ['tape-importer'] })
  team = await createTeam(app, 'Acme <Tapes>')
  base = `/organisations/${team.organisationUuid}/risk/sandbox/imports`
  await entitle(team)
  member = await join(app, team, 'member')
  reader = await join(app, team, 'read-only')
})

async function entitle({ organisationUuid }: Team): Promise<void> {
  const { id } = await app.deps.db('organisations').where({ uuid: organisationUuid }).first('id')
  await grantFamilies(app.deps.db, id, ['colending'])
}

const BOUNDARY = '----formBoundaryOfTests'

/** Submits the form without scripts. @param file null if no file was chosen */
async function send(visitor: Visitor, file: string | null, change: Record<string, string> = {}, token?: string) {
  const _csrf = token ?? (await visitor.token(`${base}/new`))
  const fields = { _csrf, requestKey: randomUUID(), format: '', ...change }
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  )
  if (file !== null) {
    const head = 'Content-Disposition: form-data; name="file"; filename="tape.csv"\r\nContent-Type: text/csv'
    parts.push(`--${BOUNDARY}\r\n${head}\r\n\r\n${file}\r\n`)
  }
  return await visitor.sendBody(`${base}/new`, `${parts.join('')}--${BOUNDARY}--\r\n`, {
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
  })
}

async function ended(path: string): Promise<string> {
  return await eventually('the import to end', async () => {
    const { text } = await member.get(path)
    return /class="pill [a-z]+">/.test(text) && text
  })
}

test.serial('an uploaded tape shows line and column of an error, not its content', async (t) => {
  const list = await member.get(base)
  t.true(list.text.includes(`href="${base}/new"`))
  const form = await member.get(`${base}/new`)
  t.regex(form.text, /enctype="multipart\/form-data"/i)
  t.regex(form.text, /<progress hidden/)
  t.regex(form.text, /implies no partnership/)
  const requestKey = randomUUID()
  const sent = await send(member, SMALL_TAPE, { requestKey })
  const path = String(sent.headers.location)
  t.is(sent.status, 303, sent.text)
  t.regex(path, /\/imports\/[0-9a-f-]{36}$/)
  const text = await ended(path)
  t.regex(text, /<h1[^>]*>tape\.csv <span class="pill bad">1 row rejected<\/span>/)
  const rows = [...text.matchAll(/<th scope="row">([^<]+)<\/th><td class="number figure">(\d+)<\/td>/g)]
  const counts = rows.map(([, , value]) => Number(value))
  t.deepEqual(counts, [2, 1, 2, 1, 6], 'accepted, rejected, skipped, header and their sum')
  t.regex(text, /line 1 \(text before the header\), line 6 \(totals\)/)
  t.regex((await member.get(base)).text, /<a href="[^"]+">tape\.csv<\/a><\/td><td[^>]*>Consumer notes \(CSV\)/)
  t.regex(text, /<td [^>]*>5<\/td><td [^>]*>loan_amnt<\/td><td>loan_amnt is not an amount<\/td>/)
  t.regex(text, />500000\.00<\/td><td data-label="Effect"><span class="pill bad">row rejected</)
  t.regex(text, /href="[^"]+\/imports\/new">Upload the corrected file</)
  const reading = (await reader.get(path)).text
  t.true(reading.includes('row rejected') && !reading.includes('Upload the corrected file'))
  t.false(text.includes('secret-cell'))
  const csv = await member.get(`${path}/errors.csv`)
  t.regex(csv.text, /^5,loan_amnt,NOT_MONEY,/m)
  t.is((await send(member, SMALL_TAPE, { requestKey })).headers.location, path, 'a form that is sent twice')
  const again = await send(member, SMALL_TAPE)
  t.is(again.headers.location, `${path}?again`)
  t.regex((await member.get(`${path}?again`)).text, /was imported before/)
  const noted = await app.deps.db('audit_log').where({ action: 'import.received' })
  t.is(noted.length, 1)
})

test.serial('a bureau file is uploaded, and an unreadable one shows the position', async (t) => {
  const bureau = await send(member, 'no segments at all', { format: 'segment-tlv-accounts@1' })
  t.is(bureau.status, 303, bureau.text)
  t.regex(
    await ended(String(bureau.headers.location)),
    /role="alert"[^>]*>\s*Line 1: the format of the file is not known/,
  )
  const open = await send(member, [HEADER, note('1'), '"2,open'].join('\n'))
  t.regex(await ended(String(open.headers.location)), /Line 3: a quotation mark is not closed/)
  const optional = await send(member, [HEADER, note('1').replace('10.65%', 'high')].join('\n'))
  t.regex(
    await ended(String(optional.headers.location)),
    />int_rate [^<]+<\/td><td[^>]*>10\.65<\/td><td[^>]*>row accepted without/,
  )
})

test.serial('the sample files of each format are accepted', async (t) => {
  const { text } = await member.get(`${base}/new`)
  t.regex(text, /<td class="mono">loan_account_number<\/td><td data-label="Contains">Loan account<\/td>/)
  t.regex(text, /Never read, because they are about persons: borrower_name, pan,/)
  const samples = [...text.matchAll(/href="([^"]+\/samples\/[^"]+)"/g)].map(([, path = '']) => path)
  t.is(samples.length, 2)
  for (const path of samples) {
    const sample = await member.get(path)
    t.regex(String(sample.headers['content-disposition']), /filename="sample-[a-z-]+\.csv"/)
    const page = await ended(String((await send(member, sample.text)).headers.location))
    t.regex(page, /class="pill good">completed</, path)
    t.notRegex(page, /Accepted, but|Columns not used/)
  }
  t.is((await member.get(`${base}/samples/nothing`)).status, 404)
})

test.serial('an invalid upload is refused on the form and not stored', async (t) => {
  const before = (await app.deps.db('imports').select('id')).length
  const cases: [string, string | null, Record<string, string>, number, RegExp][] = [
    ['no file', null, {}, 422, /No file was chosen/],
    ['an empty file', '', {}, 422, /the file is empty/],
    ['a spreadsheet', 'PK\u0003\u0004rest', {}, 415, /is a spreadsheet or compressed: save it as CSV/],
    ['an unknown format', SMALL_TAPE, { format: 'x' }, 422, /Unknown format/],
    ['20 MiB and a byte', 'a'.repeat(20 * 1024 * 1024 + 1), {}, 413, /larger than 20 MiB/],
    ['another form', SMALL_TAPE, { requestKey: 'x' }, 404, /form is incomplete/],
  ]
  for (const [what, file, change, status, message] of cases) {
    const answer = await send(member, file, change)
    t.is(answer.status, status, what)
    t.regex(answer.text, message, what)
  }
  t.is((await send(member, SMALL_TAPE, {}, 'forged')).status, 403)
  const fields = { _csrf: await member.token(`${base}/new`), requestKey: randomUUID(), format: '' }
  t.is((await member.send(`${base}/new`, fields)).status, 415)
  t.is((await app.deps.db('imports').select('id')).length, before)
})

test('readers and organisations without the family cannot upload', async (t) => {
  t.false((await reader.get(base)).text.includes(`${base}/new`))
  t.is((await reader.get(`${base}/new`)).status, 403)
  const token = await reader.token(base)
  t.is((await send(reader, SMALL_TAPE, {}, token)).status, 403)
  const other = await createTeam(app, 'Other')
  const stranger = await join(app, other, 'owner')
  t.is((await stranger.get(`${base}/new`)).status, 404)
  t.is((await stranger.get(`/organisations/${other.organisationUuid}/risk/sandbox/imports/new`)).status, 403)
})
