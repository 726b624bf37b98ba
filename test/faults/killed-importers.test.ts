import test from 'ava'
import { ended, HEADER, note, TAPES, upload } from '../ingress/risk/imports-support.ts'
import { openClient } from '../support/platform-client.ts'
import { openProduct } from '../support/product.ts'

test('an importer that is killed ten times on the way stores each row once', async (t) => {
  await using product = await openProduct()
  const { base } = await product.ingress()
  const client = await openClient(product, base)
  const lines = Array.from({ length: 6_000 }, (_, n) => note(`K-${n}`))
  const received = await upload(client, [HEADER, ...lines, note('K-7')].join('\n'))
  t.is(received.status, 202, received.text)
  for (let killed = 0; killed < 10; killed++) {
    const dying = product.spawn('workers', ['tape-importer'], { CRASH_AT: 'import-batch-stored' })
    t.is(await dying.exited, null, 'it was killed, not stopped')
    const { record_no: stored } = await product.db('imports').first('record_no')
    t.is(Number(stored), (killed + 1) * 500)
  }
  await product.workers(['tape-importer'])
  const { json } = await ended(client, `${TAPES}/${received.json.importId}`)
  t.like(json, {
    status: 'COMPLETED_WITH_ERRORS',
    counts: { records: 6_002, accepted: 6_000, rejected: 1 },
    errors: [{ line: 6_002, column: 'id', code: 'DUPLICATE_IN_FILE' }],
  })
  const rows = await product.db('import_rows').orderBy('n').select('n')
  t.deepEqual(
    rows.map(({ n }) => Number(n)),
    Array.from({ length: 6_000 }, (_, n) => n),
  )
  t.is(await product.db('import_chunks').first(), undefined)
  t.is((await product.db('usage_units').where({ family: 'colending' })).length, 6)
})
