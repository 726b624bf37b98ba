import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import test from 'ava'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { HEADER, imported, note, SMALL_TAPE, TAPES, upload } from './imports-support.ts'

let product: HttpProduct
let base = ''
let client: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['tape-importer'] })
  base = product.url
  client = await openClient(product, base)
})

const MIB = 1024 * 1024
const rows = (count: number, tag: string) => Array.from({ length: count }, (_, n) => note(`${tag}-${n}`))

const broken: [string, () => Buffer, string, number][] = [
  ['a line of 10 MB', () => Buffer.from([HEADER, 'x'.repeat(10_000_000)].join('\n')), 'RECORD_TOO_LONG', 2],
  [
    'a quote that never ends',
    () => Buffer.from([HEADER, note('1'), `"${'x\n'.repeat(100_000)}`].join('\n')),
    'RECORD_TOO_LONG',
    3,
  ],
  ['a short quote that never ends', () => Buffer.from([HEADER, note('1'), '"2,open'].join('\n')), 'QUOTING', 3],
  ['a quote in a cell', () => Buffer.from([HEADER, '1,5"0'].join('\n')), 'QUOTING', 2],
  ['millions of commas', () => Buffer.from([HEADER, ','.repeat(8_000_000)].join('\n')), 'RECORD_TOO_LONG', 2],
  ['UTF-16', () => Buffer.from(`\uFEFF${SMALL_TAPE}`, 'utf16le'), 'NOT_UTF8', 1],
  ['UTF-16 without a mark', () => Buffer.from(SMALL_TAPE, 'utf16le'), 'NOT_UTF8', 1],
  ['a NUL', () => Buffer.from([HEADER, note('1'), note('2\u0000')].join('\n')), 'NOT_UTF8', 3],
  ['Latin-1', () => Buffer.from([HEADER, note('gr\u00fcn')].join('\n'), 'latin1'), 'NOT_UTF8', 2],
  ['no header', () => Buffer.from(rows(30, 'h').join('\n')), 'FORMAT_UNKNOWN', 20],
  [
    '10,001 errors',
    () => Buffer.from([HEADER, ...Array(10_001).fill(note('1', 'x'))].join('\n')),
    'TOO_MANY_ERRORS',
    10_002,
  ],
]
for (const [name, file, code, line] of broken) {
  // In sequence: together they send 40 MB, which may exceed the request timeout on a busy machine.
  test.serial(`${name} fails the whole import with ${code}`, async (t) => {
    const own = await openClient(product, base)
    const { json } = await imported(own, Buffer.concat([file()]))
    t.is(json.status, 'FAILED')
    t.like(json.failure, { code, line })
    t.is(json.record, null)
    t.deepEqual((await own.get(`${TAPES}/${json.importId}/rows`)).json.rows, [])
    t.is((await own.get(`${TAPES}/${json.importId}/rows/0/proof`)).status, 404)
    for (const table of ['import_rows', 'import_chunks'])
      t.deepEqual(await product.db(table).where({ import_id: json.importId }).select('n'), [])
    t.deepEqual((await own.get('/v1/usage')).json.usage, [])
    t.is((await own.get('/v1/webhooks/events')).json.events.length, 1)
  })
}

test('an error about an unknown header names missing and repeated columns', async (t) => {
  const failureOf = async (header: string) => {
    const { json } = await imported(client, ['a banner', header, note('1')].join('\n'))
    return json.failure
  }
  const short = await failureOf(HEADER.replace('issue_d,', ''))
  t.like(short, { code: 'FORMAT_UNKNOWN', line: 2, header: { missing: ['issue_d'], repeated: [] } })
  t.regex(short.message, /consumer-notes-csv@1 lacks the columns issue_d$/)
  const twice = await failureOf(`${HEADER},Term`)
  t.like(twice, { line: 2, header: { mapping: 'consumer-notes-csv@1', missing: [], repeated: ['term'] } })
})

test('formulas, totals, wrong cell counts and repeated loans are rejected without their contents', async (t) => {
  const tape = [
    HEADER,
    note('=cmd|calc'),
    note('2'),
    note('2'),
    'just,three,cells',
    ',,,,,,,5,',
    note('"quoted ""id"""'),
  ]
  const { json, text } = await imported(client, tape.join('\n'))
  t.is(json.status, 'COMPLETED_WITH_ERRORS')
  t.like(json.counts, { records: 7, accepted: 3, rejected: 2, skipped: 1 })
  t.deepEqual(
    json.errors.map(({ line, column, code }: { line: number; column: string; code: string }) => [line, column, code]),
    [
      [4, 'id', 'DUPLICATE_IN_FILE'],
      [5, null, 'COLUMN_COUNT'],
    ],
  )
  t.false(text.includes('cmd'))
  const csv = await client.get(`${TAPES}/${json.importId}/errors.csv`)
  t.regex(csv.headers.get('content-disposition') ?? '', /^attachment/)
  t.false(/(?:^|,)[=+@\t-]/m.test(csv.text))
})

test('an upload that is not plain UTF-8 text is refused at once', async (t) => {
  const cases: [string, Buffer, Record<string, string>, number][] = [
    ['JSON', Buffer.from('{}'), { 'content-type': 'application/json' }, 415],
    ['no type', Buffer.from(SMALL_TAPE), { 'content-type': '' }, 415],
    ['UTF-16 by its type', Buffer.from(SMALL_TAPE), { 'content-type': 'text/csv; charset=utf-16' }, 415],
    ['gzip', Buffer.from(SMALL_TAPE), { 'content-encoding': 'gzip' }, 415],
    ['bytes of gzip', Buffer.from([0x1f, 0x8b, 8, 0, 1]), {}, 415],
    ['a spreadsheet', Buffer.from('PK\u0003\u0004rest'), {}, 415],
    ['nothing', Buffer.alloc(0), {}, 400],
    ['20 MiB and a byte', Buffer.alloc(20 * MIB + 1, 'a'), {}, 413],
    ['no key', Buffer.from(SMALL_TAPE), { 'x-idempotency-key': '' }, 400],
  ]
  const own = await openClient(product, base)
  const organisation = await product.db('organisations').where({ uuid: own.credentials.organisationId }).first('id')
  for (const [name, body, headers, status] of cases) {
    const answer = await own.post(TAPES, body, { 'content-type': 'text/csv', ...headers })
    t.is(answer.status, status, `${name}: ${answer.text}`)
  }
  const unknown = await upload(own, SMALL_TAPE, { path: `${TAPES}?mapping=none@1` })
  t.is(unknown.status, 400)
  t.is(unknown.json.errors[0].path, 'mapping')
  t.is((await upload(own, SMALL_TAPE, { path: `${TAPES}?other=1` })).status, 400)
  t.deepEqual(await product.db('imports').where({ organisation_id: organisation.id }).select('id'), [])
})

test('an incomplete upload leaves no data', async (t) => {
  const own = await openClient(product, base)
  const row = await product.db('organisations').where({ uuid: own.credentials.organisationId }).first('id')
  const left = async () => (await product.db('imports').where({ organisation_id: row.id })).length
  const head = (length: number) =>
    [
      `POST ${TAPES} HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${own.token}`,
      'Content-Type: text/csv',
      `x-idempotency-key: ${randomUUID()}`,
      `Content-Length: ${length}`,
      '\r\n',
    ].join('\r\n')
  for (let sent = 0; sent < 8; sent++) {
    const socket = connect({ port: Number(new URL(base).port), host: '127.0.0.1' })
    socket.on('error', () => {})
    socket.write(head(8 * MIB))
    socket.write(Buffer.alloc(sent * MIB + 17, 'a'))
    await eventually('the upload to be stored in part', async () => {
      const chunks = await product
        .db('import_chunks')
        .join('imports', 'imports.id', 'import_chunks.import_id')
        .where({ organisation_id: row.id })
      return chunks.length >= sent * 16 && (await left()) === 1
    })
    t.deepEqual((await own.get(TAPES)).json.imports, [], 'nothing of it is seen')
    if (sent % 2 === 0) socket.resetAndDestroy()
    else socket.end()
    await eventually('the upload to be deleted', async () => (await left()) === 0)
  }
})

test('abandoned uploads are deleted after an hour, unfinished imports end after a day', async (t) => {
  const own = await openClient(product, base)
  const row = await product.db('organisations').where({ uuid: own.credentials.organisationId }).first('id')
  const [orphan, stuck, young] = [randomUUID(), randomUUID(), randomUUID()]
  const shared = { organisation_id: row.id, env: 'SANDBOX', kind: 'TAPE', style: 'csv' }
  const received = { state: 'RECEIVED', sha256: Buffer.alloc(32), bytes: 1, received_at: new Date() }
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  await product.db('imports').insert([
    { id: orphan, ...shared, created_at: ago(1.1) },
    { id: young, ...shared, created_at: ago(0.9) },
  ])
  await product.db('imports').insert({ id: stuck, ...shared, ...received, created_at: ago(24.1) })
  const chunks = [orphan, stuck, young].map((id) => ({ import_id: id, n: 0, data: Buffer.alloc(1) }))
  await product.db('import_chunks').insert(chunks)
  await product.workers(['sweeper'])
  await eventually('the sweep', async () => !(await product.db('imports').where({ id: orphan }).first()))
  const given = await eventually('the end', async () => {
    const answer = await own.get(`${TAPES}/${stuck}`)
    return answer.status === 200 ? answer : undefined
  })
  t.like(given.json, { status: 'FAILED', failure: { code: 'EXPIRED' } })
  const kept = await product.db('import_chunks').whereIn('import_id', [orphan, stuck, young]).select('import_id')
  t.deepEqual(kept, [{ import_id: young }])
})
