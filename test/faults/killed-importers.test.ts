import test from 'ava'
import { ended, HEADER, note, TAPES, upload } from '../ingress/api-risk/imports-support.ts'
import { effort } from '../support/effort.ts'
import { openClient } from '../support/platform-client.ts'
import { openProduct } from '../support/product.ts'

const KILLS = effort(2, 10)
/** The importer stores rows in batches of 500; the last batch is stored without a kill. */
const ROWS = 500 * (KILLS + 1)

test.serial('an importer that is killed several times stores each row once', async (t) => {
  await using product = await openProduct()
  const { base } = await product.ingress()
  const client = await openClient(product, base)
  const lines = Array.from({ length: ROWS }, (_, n) => note(`K-${n}`))
  const received = await upload(client, [HEADER, ...lines, note('K-7')].join('\n'))
  t.is(received.status, 202, received.text)
  for (let killed = 0; killed < KILLS; killed++) {
    const dying = product.spawn('workers', ['tape-importer'], { CRASH_AT: 'import-batch-stored' })
    t.is(await dying.exited, null, 'it was killed, not stopped')
    const { record_no: stored } = await product.db('imports').first('record_no')
    t.is(Number(stored), (killed + 1) * 500)
  }
  await product.workers(['tape-importer'])
  const { json } = await ended(client, `${TAPES}/${received.json.importId}`)
  t.like(json, {
    status: 'COMPLETED_WITH_ERRORS',
    counts: { records: ROWS + 2, accepted: ROWS, rejected: 1 },
    errors: [{ line: ROWS + 2, column: 'id', code: 'DUPLICATE_IN_FILE' }],
  })
  const rows = await product.db('import_rows').orderBy('n').select('n')
  t.deepEqual(
    rows.map(({ n }) => Number(n)),
    Array.from({ length: ROWS }, (_, n) => n),
  )
  t.is(await product.db('import_chunks').first(), undefined)
  t.is((await product.db('usage_units').where({ family: 'colending' })).length, Math.ceil(ROWS / 1_000))
})
