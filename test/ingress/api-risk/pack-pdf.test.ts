import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { findPdfStatement } from '#shared/risk/packs/pdf/store.ts'
import { payloadSha256 } from '#shared/transparency/anchoring/leaf.ts'
import { verifyCommand } from '#shared/transparency/anchoring/verify-cli.ts'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, demoRequest, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { NO_POPPLER, readPdf } from '../../support/risk-poppler.ts'
import { sharedProduct } from '../../support/shared-product.ts'

let product: HttpProduct
let base = ''

test.before(async () => {
  product = await sharedProduct({ workers: ['pack-composer', 'anchor', 'dilution-measurer'] })
  base = product.url
})

async function makePack(client: ApiClient): Promise<{ packId: string; text: string }> {
  const requested = await client.post('/v1/po/risk-signals', demoRequest, { prefer: 'respond-async' })
  const { packId } = requested.json
  const text = await eventually<string>('the pack', async () => {
    const answer = await client.get(`/v1/po/risk-signals/packs/${packId}`)
    return answer.status === 200 ? answer.text : undefined
  })
  return { packId, text }
}

async function getPdf(client: ApiClient, packId: string): Promise<{ response: Response; bytes: Buffer }> {
  const headers = { authorization: `Bearer ${client.token}` }
  return await eventually('the document', async () => {
    const response = await fetch(`${base}/v1/po/risk-signals/packs/${packId}/pdf`, { headers })
    const bytes = Buffer.from(await response.arrayBuffer())
    return response.status === 202 ? undefined : { response, bytes }
  })
}

test('the PDF of a pack contains the pack and its log index', async (t) => {
  const client = await openClient(product, base)
  const { packId, text } = await makePack(client)
  const { response, bytes } = await getPdf(client, packId)
  t.is(response.status, 200)
  t.is(response.headers.get('content-type'), 'application/pdf')
  t.regex(
    response.headers.get('content-disposition') ?? '',
    /^attachment; filename="risk-signals-pack-[0-9a-f]{8}\.pdf"$/,
  )
  const read = await readPdf(bytes)
  if (!read) return void t.pass(NO_POPPLER)
  t.is(read.files.get(`pack-${packId.slice(0, 8)}.json`)?.toString(), text)
  t.regex(read.text, /[0-9]+ in a tree of [0-9]+/)
})

test('a PDF has a dilution card if the pair was measured on the day of the pack', async (t) => {
  const client = await openClient(product, base)
  const plain = await makePack(client)
  const { borrowerGstin, buyerGstin } = demoRequest
  const pair = `supplierGstin=${borrowerGstin}&buyerGstin=${buyerGstin}`
  const measured = await client.get(`/v1/risk-signals/anti-dilution?${pair}`, { prefer: 'wait=20' })
  t.is(measured.status, 200, measured.text)
  const { packId, text } = await makePack(client)
  t.deepEqual(Object.keys(JSON.parse(text)), Object.keys(JSON.parse(plain.text)))
  const other = await openClient(product, base)
  const foreign = await readPdf((await getPdf(other, (await makePack(other)).packId)).bytes)
  const read = await readPdf((await getPdf(client, packId)).bytes)
  if (!read) return void t.pass(NO_POPPLER)
  t.regex(read.text, /Dilution of the pair/)
  t.notRegex(foreign?.text ?? '', /Dilution of the pair/, 'another organisation has not measured it')
  t.true(read.text.includes('dilution-1'))
  t.is(read.files.get(`pack-${packId.slice(0, 8)}.json`)?.toString(), text)
  const attached = read.files.get(`dilution-${packId.slice(0, 8)}.json`)?.toString()
  t.is(attached, measured.text, 'as it was answered')
  t.false([...(foreign?.files.keys() ?? [])].some((name) => name.startsWith('dilution')))
  // The card refers to the anchored file: a changed figure makes another file.
  const { bytes } = await getPdf(client, packId)
  const statementOf = (file: Buffer) => findPdfStatement(product.db, createHash('sha256').update(file).digest())
  t.is(JSON.parse((await statementOf(bytes)) ?? '{}').packId, packId)
  const at = bytes.indexOf('dilution-1')
  t.true(at > 0)
  const changed = Buffer.from(bytes)
  changed.write('dilution-2', at)
  t.is(await statementOf(changed), undefined)
})

test('the attachment verifies offline with the commands printed in the document', async (t) => {
  const client = await openClient(product, base)
  const { packId } = await makePack(client)
  const { bytes } = await getPdf(client, packId)
  const read = await readPdf(bytes)
  if (!read) return void t.pass(NO_POPPLER)
  const short = packId.slice(0, 8)
  t.regex(read.text, new RegExp(`npm run -s verify -- pack-${short}\\.json --proof proof\\.json --policy policy\\.txt`))
  const folder = await mkdtemp(join(tmpdir(), 'signalbox-pack-'))
  try {
    const files = [join(folder, 'pack.json'), join(folder, 'proof.txt'), join(folder, 'policy.txt')] as const
    await writeFile(files[0], read.files.get(`pack-${short}.json`) ?? '')
    await writeFile(files[1], read.files.get(`proof-${short}.txt`) ?? '')
    await writeFile(files[2], (await client.get('/v1/transparency/sandbox/policy')).text)
    const { stdout } = await verifyCommand([files[0], '--proof', files[1], '--policy', files[2]])
    t.regex(stdout, /^VERIFIED/)
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('concurrent and later requests get the same file, whose hash is anchored once', async (t) => {
  const client = await openClient(product, base)
  const { packId } = await makePack(client)
  const answers = await Promise.all(Array.from({ length: 4 }, () => getPdf(client, packId)))
  const later = await getPdf(client, packId)
  for (const { bytes } of answers) t.true(bytes.equals(later.bytes))
  const digest = createHash('sha256').update(later.bytes).digest()
  t.is(later.response.headers.get('repr-digest'), `sha-256=:${digest.toString('base64')}:`)

  const statement = JSON.parse((await findPdfStatement(product.db, digest)) ?? 'null')
  t.is(statement.pdfSha256, digest.toString('hex'))
  t.is(statement.packId, packId)
  t.is(statement.anchor.payloadSha256, payloadSha256(statement))
  const txId = /<\/v1\/anchors\/([0-9a-f]{64})>/.exec(later.response.headers.get('link') ?? '')?.[1]
  t.is(txId, statement.anchor.txId)
  const anchor = await client.get(`/v1/anchors/${txId}`)
  t.is(anchor.status, 200)
  t.is(JSON.parse(anchor.json.entry).eventType, 'risk_signals.pack_pdf')
  const { rows } = await product.db.raw<{ rows: { count: number }[] }>(
    `SELECT count(*)::int AS count FROM log_entries WHERE convert_from(entry, 'UTF8') LIKE '%' || ? || '%'`,
    [statement.anchor.payloadSha256],
  )
  t.is(rows[0]?.count, 1)
})

test('a pack of another organisation gets the answer of an unknown one', async (t) => {
  const [owner, other] = await Promise.all([openClient(product, base), openClient(product, base)])
  const { packId } = await makePack(owner)
  const foreign = await other.get(`/v1/po/risk-signals/packs/${packId}/pdf`)
  const unknown = await other.get('/v1/po/risk-signals/packs/7f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33/pdf')
  const malformed = await other.get('/v1/po/risk-signals/packs/nothing/pdf')
  for (const answer of [foreign, unknown]) {
    t.is(answer.status, 404)
    t.is(answer.json.code, 'NOT_FOUND')
  }
  t.is(malformed.status, 400)
})

test('a pack that is not composed yet gets 202', async (t) => {
  const client = await openClient(product, base)
  const { rows } = await product.db.raw<{ rows: { id: string }[] }>(
    `INSERT INTO packs (id, organisation_id, env, sealed_request)
     SELECT gen_random_uuid(), id, 'SANDBOX', '' FROM organisations WHERE uuid = ? RETURNING id`,
    [client.credentials.organisationId],
  )
  const answer = await client.get(`/v1/po/risk-signals/packs/${rows[0]?.id}/pdf`)
  t.is(answer.status, 202)
  t.is(answer.headers.get('retry-after'), '1')
})

test('a token without the scope gets no PDF', async (t) => {
  const client = await openClient(product, base, { families: ['kyb'] })
  const answer = await client.get('/v1/po/risk-signals/packs/7f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33/pdf')
  t.is(answer.status, 403)
})
