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

/** Sends the form as a browser without scripts does. @param file null when none was chosen */
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
    return /class="pill [a-z]+">(?:completed|failed)/.test(text) && text
  })
}

test.serial(
  'a tape is uploaded on a form, and its page shows line and column of a bad cell, never its content',
  async (t) => {
    const list = await member.get(base)
    t.true(list.text.includes(`href="${base}/new"`))
    const form = await member.get(`${base}/new`)
    t.regex(form.text, /enctype="multipart\/form-data"/i)
    t.regex(form.text, /<progress hidden/)
    t.regex(form.text, /claims a partnership/)
    const requestKey = randomUUID()
    const sent = await send(member, SMALL_TAPE, { requestKey })
    const path = String(sent.headers.location)
    t.is(sent.status, 303, sent.text)
    t.regex(path, /\/imports\/[0-9a-f-]{36}$/)
    const text = await ended(path)
    t.regex(text, /completed with errors/)
    t.regex(
      text,
      /<td class="figure">5<\/td><td class="mono breakable">loan_amnt<\/td><td>loan_amnt is not an amount<\/td>/,
    )
    t.false(text.includes('secret-cell'))
    const csv = await member.get(`${path}/errors.csv`)
    t.regex(csv.text, /^5,loan_amnt,NOT_MONEY,/m)
    t.is((await send(member, SMALL_TAPE, { requestKey })).headers.location, path, 'a form that is sent twice')
    const again = await send(member, SMALL_TAPE)
    t.is(again.headers.location, `${path}?again`)
    t.regex((await member.get(`${path}?again`)).text, /were imported before/)
    const noted = await app.deps.db('audit_log').where({ action: 'import.received' })
    t.is(noted.length, 1)
  },
)

test.serial('a bureau file is uploaded by its style; an unreadable file shows the position of the error', async (t) => {
  const bureau = await send(member, 'no segments at all', { format: 'segment-tlv-accounts@1' })
  t.is(bureau.status, 303, bureau.text)
  t.regex(await ended(String(bureau.headers.location)), /role="alert"[^>]*>\s*Line 1: no mapping recognises the format/)
  const open = await send(member, [HEADER, note('1'), '"2,open'].join('\n'))
  t.regex(await ended(String(open.headers.location)), /Line 3: a quotation mark is not closed/)
})

test.serial('an invalid upload is refused on the form and not stored', async (t) => {
  const before = (await app.deps.db('imports').select('id')).length
  const cases: [string, string | null, Record<string, string>, number, RegExp][] = [
    ['no file', null, {}, 422, /No file was chosen/],
    ['an empty file', '', {}, 422, /the file is empty/],
    ['a spreadsheet', 'PK\u0003\u0004rest', {}, 415, /compressed files are not supported/],
    ['a format that is none', SMALL_TAPE, { format: 'x' }, 422, /none of those/],
    ['20 MiB and a byte', 'a'.repeat(20 * 1024 * 1024 + 1), {}, 413, /longer than/],
    ['another form', SMALL_TAPE, { requestKey: 'x' }, 404, /not one of ours/],
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

test('readers, and organisations without the family, upload nothing', async (t) => {
  t.false((await reader.get(base)).text.includes(`${base}/new`))
  t.is((await reader.get(`${base}/new`)).status, 403)
  const token = await reader.token(base)
  t.is((await send(reader, SMALL_TAPE, {}, token)).status, 403)
  const other = await createTeam(app, 'Other')
  const stranger = await join(app, other, 'owner')
  t.is((await stranger.get(`${base}/new`)).status, 404)
  t.is((await stranger.get(`/organisations/${other.organisationUuid}/risk/sandbox/imports/new`)).status, 403)
})
