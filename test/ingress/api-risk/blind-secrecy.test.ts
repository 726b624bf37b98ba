import test from 'ava'
import { rf1Input } from '#shared/risk/first-financing/fingerprint-input.ts'
import { identityOf, ReceivableFields } from '#shared/risk/first-financing/receivable.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { openClient } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'
import { blindFingerprints, check, receivable, register } from './financing-support.ts'

test('no row, log line or message contains a field of a blindly registered receivable', async (t) => {
  await using product = await openProduct({ env: { LOG_LEVEL: 'trace' } })
  const port = await freePort()
  const env = { LOG_LEVEL: 'trace', METRICS_PORT: String(await freePort()) }
  const ingress = product.spawn('ingress', [], { ...env, PORT: String(port) })
  const workers = product.spawn('workers', [], { ...env, METRICS_PORT: String(await freePort()) })
  for (const { output } of [ingress, workers])
    await eventually('a process to be ready', () => output().includes('process.ready'))
  const base = `http://127.0.0.1:${port}`
  const client = await openClient(product, base)
  // These texts occur nowhere else.
  const invoice = receivable({ documentNumber: 'SECRET/4711', documentDate: '2026-02-13', totalInr: 918_273.64 })
  const shown = receivable({ documentNumber: 'SHOWN/0815' })
  t.is((await register(client, shown)).status, 201)
  const fingerprints = await blindFingerprints(client, invoice)
  t.is((await check(client, { fingerprints, statement: true })).json.status, 'CLEAN')
  t.is((await register(client, { fingerprints })).status, 201)
  // The sweeper may have taken the hourly snapshot between the two registrations; a proof from it would be right.
  await product.db('financing_snapshots').delete()
  t.is((await client.post('/v1/first-financing/absence-proofs', { fingerprints })).status, 409)

  // Four digits could occur in a hash by chance.
  const traces = [
    'SECRET',
    '2026-02-13',
    '91827364',
    '918273.64',
    rf1Input(identityOf(ReceivableFields.parse(invoice))),
  ]
  const found = (text: string) =>
    traces.filter((trace) =>
      [trace, Buffer.from(trace).toString('hex'), Buffer.from(trace).toString('base64').replace(/=+$/, '')].some(
        (form) => text.includes(form),
      ),
    )
  const { rows: tables } = await product.db.raw(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  )
  t.true(tables.length > 50)
  for (const { name } of tables) {
    const { rows } = await product.db.raw(`SELECT coalesce(string_agg(t::text, ' '), '') AS text FROM ${name} t`)
    t.deepEqual(found(rows[0].text), [], name)
  }
  for (const [name, { output }] of Object.entries({ ingress, workers })) t.deepEqual(found(output()), [], name)
  // Messages contain the id of a job; its sealed request is deleted when it is done.
  const jobs = await product.db('evidence_jobs').where('kind', 'like', 'financing.%')
  t.true(jobs.length >= 4)
  for (const job of jobs) t.is(job.sealed_request, null)
})
