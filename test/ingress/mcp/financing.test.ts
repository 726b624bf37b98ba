import { randomUUID } from 'node:crypto'
import test from 'ava'
import { openClient } from '../../support/platform-client.ts'
import { openProduct } from '../../support/product.ts'
import { receivable } from '../api-risk/financing-support.ts'
import { callTool, connect, makeKey } from './agents.ts'

const scopes = ['agents:invoke', 'first-financing:check', 'first-financing:register']

test('an agent of another organisation learns only that a duplicate exists', async (t) => {
  await using product = await openProduct({ hasRowSecurity: true })
  const { base } = await product.ingress()
  await product.workers(['financing-registrar'])
  const [first, second] = [await openClient(product, base), await openClient(product, base)]
  const budgets = { 'first-financing': { perDay: 2 } }
  const one = await connect(base, (await makeKey(first, { scopes })).key)
  const other = await connect(base, (await makeKey(second, { scopes, budgets })).key)
  const its = receivable()

  const args = { idempotencyKey: randomUUID(), ...its }
  const registered = await callTool(one, 'first_financing_register', args)
  t.false(registered.isError, JSON.stringify(registered.result))
  t.deepEqual((await callTool(one, 'first_financing_register', args)).result, registered.result)
  const { json } = await first.post('/v1/first-financing/registrations', its, {
    'x-idempotency-key': args.idempotencyKey,
  })
  t.deepEqual(json, registered.result, 'the API replays a request with the same key')

  const callOther = (name: string, change: object = {}) =>
    callTool(other, name, { idempotencyKey: randomUUID(), ...its, ...change })
  const checked = await callOther('first_financing_check')
  t.like(checked.result, { status: 'DUPLICATE_REGISTERED', matches: [{ class: 'EXACT', ownRegistration: false }] })
  t.false(JSON.stringify(checked.result).includes(first.credentials.organisationId))
  const refused = await callOther('first_financing_register')
  t.true(refused.isError)
  t.like(refused.result, { code: 'CONFLICT' })
  t.like((await callOther('first_financing_check')).result, { code: 'RATE_LIMITED', errors: [{ code: 'BUDGET' }] })
  const wrong = await callOther('first_financing_check', { buyerGstin: 'no' })
  t.like(wrong.result, { code: 'VALIDATION_ERROR' })
  t.regex(JSON.stringify(wrong.result.errors), /buyerGstin/)
})
