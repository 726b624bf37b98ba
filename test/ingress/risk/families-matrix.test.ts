import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { veiOf } from '#shared/risk/identifiers/vei.ts'
import { platformRoutes } from '../../../ingress/risk/routes.ts'
import { fileOf, importsOf, root, sourcesBelow } from '../../support/imports.ts'
import { type ApiClient, openClient, send } from '../../support/platform-client.ts'
import { openProduct, type Product } from '../../support/product.ts'
import { act, receivable, register } from './financing-support.ts'

let product: Product
let base = ''
let owner: ApiClient
let stranger: ApiClient
/** Ids of the owner, by the names that paths give them. */
const ids: Record<string, string> = {}

const FAMILIES = /^\/v1\/(?:first-financing|acceptance|kyb)\//
const routes = platformRoutes.filter(({ path }) => FAMILIES.test(path))
/** Bodies without which a request ends at 400 before its resource is looked for. */
const BODIES: Record<string, object> = {
  answerDispute: { answer: 'CONFIRM' },
  changeMembership: { organisation: 'x', role: 'x', action: 'JOIN', effectiveOn: '2026-01-01' },
  stateOwners: { owners: [{ name: 'x', kind: 'PERSON', holdingBps: 1, controlBasis: 'x' }] },
  issueBusinessPassport: { purpose: 'x' },
  eraseEntity: { reason: 'x' },
}

test.before(async () => {
  product = await openProduct({ isBound: true })
  base = (await product.ingress()).base
  await product.workers(['financing-registrar', 'kyb-verifier', 'acceptance-recorder'])
  owner = await openClient(product, base)
  stranger = await openClient(product, base)
  const disputer = await openClient(product, base)
  const invoice = receivable()
  const made = await register(owner, invoice)
  await act(owner, made.json.registrationId, 'finance')
  const dispute = await disputer.post('/v1/first-financing/disputes', { receivable: invoice, reason: 'ours' })
  const checked = await owner.post('/v1/first-financing/checks', invoice)
  const verified = await owner.post('/v1/kyb/verifications', { pan: 'AAACR5678D' })
  const lei = await owner.post('/v1/kyb/lei/resolve', { legalName: 'Synthetic' }, { prefer: 'respond-async' })
  const body = { receivableRef: 'MINE-1', channel: 'IMS', action: 'PENDING', at: '2026-06-20T18:30:00Z' }
  const accepted = await owner.post('/v1/acceptance/records', body)
  Object.assign(ids, {
    registrationId: made.json.registrationId,
    disputeId: dispute.json.disputeId,
    checkId: checked.json.checkId,
    verificationId: verified.json.verificationId,
    vei: verified.json.vei,
    resolutionId: lei.json.id,
    acceptanceId: accepted.json.acceptanceId,
    receivableRef: 'MINE-1',
  })
})
test.after.always(() => product[Symbol.asyncDispose]())

const unknownOf = (name: string) => (name === 'vei' ? veiOf(Buffer.alloc(32), 'nobody') : randomUUID())

for (const { method, path, operationId } of routes) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
  const filled = (of: (name: string) => string) => path.replace(/\{(\w+)\}/g, (_, name) => of(name))
  const ask = (client: ApiClient, to: string) =>
    method === 'get' ? client.get(to) : client.post(to, BODIES[operationId] ?? {})

  test(`${method} ${path} needs a token, and a scope of its family`, async (t) => {
    const narrow = await openClient(product, base, { families: ['colending'] })
    const to = filled(unknownOf)
    t.is((await send(`${base}${to}`, { method: method.toUpperCase() })).status, 401)
    t.is((await ask(narrow, to)).status, 403)
  })

  if (method === 'post')
    test(`${method} ${path} needs an idempotency key`, async (t) => {
      const to = filled((name) => ids[name] ?? unknownOf(name))
      const answer = await owner.post(to, {}, { 'x-idempotency-key': '' })
      t.is(answer.status, 400)
      t.is(answer.json.code, 'IDEMPOTENCY_KEY_REQUIRED')
    })

  // A legal entity identifier is public: nobody owns it.
  if (names.length > 0 && !names.includes('lei'))
    test(`${method} ${path} of another organisation is answered like one that does not exist`, async (t) => {
      const bare = ({
        status,
        json: { requestId: _id, instance: _path, ...rest },
      }: Awaited<ReturnType<typeof ask>>) => ({
        status,
        ...rest,
      })
      const foreign = await ask(
        stranger,
        filled((name) => ids[name] ?? ''),
      )
      t.is(foreign.status, 404, foreign.text)
      t.deepEqual(bare(foreign), bare(await ask(stranger, filled(unknownOf))))
    })
}

test('no process that listens loads curve arithmetic or a registry’s connector', (t) => {
  const graph = new Map<string, string[]>()
  for (const room of ['ingress', 'shared'] as const)
    for (const file of sourcesBelow(room)) {
      const targets = importsOf(readFileSync(join(root, file), 'utf8')).flatMap((name) => fileOf(file, name) ?? [])
      graph.set(file, targets)
    }
  const seen = new Set(sourcesBelow('ingress').filter((file) => !file.startsWith('ingress/admin')))
  for (const file of seen) for (const next of graph.get(file) ?? []) seen.add(next)
  const forbidden = ['shared/risk/first-financing/oprf.ts', 'shared/risk/registries/runner.ts']
  t.deepEqual(
    forbidden.filter((file) => seen.has(file)),
    [],
  )
})
