import { randomInt } from 'node:crypto'
import test from 'ava'
import { type ApiClient, openClient } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { receivable } from './financing-support.ts'

let product: HttpProduct
let lender: ApiClient

test.before(async () => {
  product = await sharedProduct({ workers: ['acceptance-recorder'] })
  lender = await openClient(product, product.url)
})

/** Records actions on days of August in the given order. */
async function recordInOrder(steps: readonly [action: string, day: number, amountAccepted?: number][]) {
  const receivableRef = `LATE-${randomInt(1e9)}`
  const answers = []
  for (const [action, day, amountAccepted] of steps) {
    const at = `2026-08-${String(day).padStart(2, '0')}T10:00:00Z`
    const body = { receivableRef, channel: 'IMS', action, at, ...(amountAccepted ? { amountAccepted } : {}) }
    answers.push(await lender.post('/v1/acceptance/records', body))
  }
  const { summary } = (await lender.get(`/v1/acceptance/${receivableRef}`)).json
  return { answers, summary }
}

test('the summary follows the times of records, not their order of arrival', async (t) => {
  const late = await recordInOrder([
    ['REJECTED', 8],
    ['ACCEPTED', 3, 500],
  ])
  t.deepEqual(
    late.answers.map(({ status }) => status),
    [201, 201],
  )
  t.like(late.summary, { action: 'REJECTED', acceptedInr: null })
  const between = await recordInOrder([
    ['ACCEPTED', 3, 500],
    ['ACCEPTED', 8, 400],
    ['REJECTED', 5],
  ])
  t.like(between.summary, { action: 'ACCEPTED', acceptedInr: 400 })
})

test('an earlier repetition of the same action changes nothing', async (t) => {
  const { summary } = await recordInOrder([
    ['ACCEPTED', 8, 500],
    ['ACCEPTED', 3, 400],
  ])
  t.like(summary, { action: 'ACCEPTED', acceptedInr: 500 })
})

test('a late record is refused if the next record cannot follow it', async (t) => {
  const { answers, summary } = await recordInOrder([
    ['PENDING', 8],
    ['ACCEPTED', 3],
  ])
  t.like(answers[1]?.json, { status: 409, errors: [{ path: 'at', code: 'PENDING' }] })
  t.is(summary.action, 'PENDING')
})

test('references that a path cannot contain are refused; other dots are valid', async (t) => {
  const newRef = `DOTS-${randomInt(1e9)}`
  const adjustment = (receivableRef: string) =>
    lender.post('/v1/acceptance/adjustments', {
      receivableRef,
      kind: 'PAYMENT',
      amountInr: 1,
      at: '2026-05-01T00:00:00Z',
    })
  for (const ref of ['.', '..']) {
    t.like((await adjustment(ref)).json, { status: 400, errors: [{ path: 'receivableRef' }] }, ref)
    const requested = await lender.post('/v1/acceptance/requests', { receivableRef: ref })
    t.true(
      requested.json.errors.some(({ path }: { path: string }) => path === 'receivableRef'),
      requested.text,
    )
  }
  for (const ref of [`..${newRef}`, `${newRef}..`, `a.${newRef}`]) t.is((await adjustment(ref)).status, 201, ref)
})

test('a reference cannot be reused with another number, buyer, date or amount', async (t) => {
  const receivableRef = `SAME-${randomInt(1e9)}`
  const invoice = receivable()
  const record = (change: object) => {
    const body = { receivableRef, channel: 'IMS', action: 'ACCEPTED', at: '2026-08-01T10:00:00Z' }
    return lender.post('/v1/acceptance/records', { ...body, receivable: { ...invoice, ...change } })
  }
  t.is((await record({})).status, 201)
  for (const change of [
    { documentNumber: 'OTHER/1' },
    { buyerGstin: '24AAFFS4321K1ZA' },
    { documentDate: '2026-05-02' },
    { totalInr: invoice.totalInr + 1 },
  ])
    t.like((await record(change)).json, { status: 409, errors: [{ code: 'OTHER_RECEIVABLE' }] }, JSON.stringify(change))
})
