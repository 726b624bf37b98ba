import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { veiOf } from '#shared/risk/identifiers/vei.ts'
import { platformRoutes } from '../../../ingress/platform-routes.ts'
import { fileOf, importsOf, root, sourcesBelow } from '../../support/imports.ts'
import { type ApiClient, openClient, send } from '../../support/platform-client.ts'
import type { HttpProduct } from '../../support/product.ts'
import { sharedProduct } from '../../support/shared-product.ts'
import { act, blindOf, receivable, register } from './financing-support.ts'
import { BUREAU_FILES, borrower, imported, SEGMENTS_HEADER, SMALL_TAPE } from './imports-support.ts'
import { issuePack } from './trade-support.ts'

let product: HttpProduct
let base = ''
let owner: ApiClient
let stranger: ApiClient
/** Ids of the owner, by the names that paths give them. */
const ids: Record<string, string> = {}

const FAMILIES =
  /^\/v1\/(?:(?:first-financing|acceptance|kyb|trade|identity)\/|colending\/(?:loan-tapes|bureau-files)(?:\/|$))/
/** Their bodies are files, which a worker evaluates. */
const UPLOADS = new Set(['uploadLoanTape', 'uploadBureauFile'])
/** Verifying a document of the caller changes nothing. */
const KEYLESS = new Set(['verifyTradeBundle', 'verifyPassport'])
const routes = platformRoutes.filter(({ path, security }) => FAMILIES.test(path) && security.length > 0)
/** Bodies without which a request ends at 400 before its resource is looked for. */
const BODIES: Record<string, object> = {
  answerDispute: { answer: 'CONFIRM' },
  changeMembership: { organisation: 'x', role: 'x', action: 'JOIN', effectiveOn: '2026-01-01' },
  stateOwners: { owners: [{ name: 'x', kind: 'PERSON', holdingBps: 1, controlBasis: 'x' }] },
  issueBusinessPassport: { purpose: 'x' },
  eraseEntity: { reason: 'x' },
  trustEntityKey: { jwk: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) } },
  eraseSubject: { reason: 'x' },
  moveSubject: { to: 'PENDING', reason: 'x' },
  verifySubject: { method: 'DOCUMENT', documentSha256: '0'.repeat(64), signature: 'a.b.c' },
  issueIdentityPassport: { purpose: 'x' },
  revokePassport: { reason: 'x' },
  revokeBusinessPassport: { reason: 'x' },
}

/** Invalid bodies; each is refused with 400 before any lookup. */
const HOSTILE: Record<string, string> = {
  'a NUL':
    '{"reason":"a\\u0000b","receivableRef":"a\\u0000b","organisation":"\\u0000","purpose":"\\u0000","legalName":"\\u0000","answer":"\\u0000"}',
  'a lone surrogate':
    '{"reason":"\\ud800","receivableRef":"\\ud800","organisation":"\\ud800","purpose":"\\ud800","legalName":"\\ud800","answer":"\\ud800"}',
  'a member twice': '{"reason":"a","reason":"b"}',
  '10,000 levels': '['.repeat(10_000) + ']'.repeat(10_000),
  'no object': '[1]',
  'no JSON': '{"a":',
  'a long text': `{"reason":"${'x'.repeat(900_000)}"}`,
  'a number beyond doubles': '{"totalInr":1e999}',
}

test.before(async () => {
  product = await sharedProduct({
    workers: [
      'financing-registrar',
      'kyb-verifier',
      'acceptance-recorder',
      'provenance-composer',
      'identity-verifier',
      'tape-importer',
    ],
  })
  base = product.url
  owner = await openClient(product, base)
  stranger = await openClient(product, base)
  const disputer = await openClient(product, base)
  const invoice = receivable()
  const made = await register(owner, invoice)
  await act(owner, made.json.registrationId, 'finance')
  const dispute = await disputer.post('/v1/first-financing/disputes', { receivable: invoice, reason: 'ours' })
  const checked = await owner.post('/v1/first-financing/checks', invoice)
  const { blinded } = blindOf(Buffer.from('a'))
  const evaluated = await owner.post('/v1/first-financing/oprf/evaluate', { epoch: 2, blinded: [blinded] })
  const absent = await owner.post('/v1/first-financing/absence-proofs', { receivable: receivable() })
  const verified = await owner.post('/v1/kyb/verifications', { pan: 'AAACR5678D' })
  const lei = await owner.post('/v1/kyb/lei/resolve', { legalName: 'Synthetic' }, { prefer: 'respond-async' })
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) }
  const key = await owner.post(`/v1/kyb/entities/${verified.json.vei}/keys`, { jwk })
  const body = { receivableRef: 'MINE-1', channel: 'IMS', action: 'PENDING', at: '2026-06-20T18:30:00Z' }
  const accepted = await owner.post('/v1/acceptance/records', body)
  const pack = await issuePack(owner)
  const traded = await owner.post('/v1/trade/iec/verifications', { iec: 'AAACR5678D' })
  const subject = await owner.post('/v1/identity/subjects', { externalRef: 'C-1', kind: 'BUSINESS' })
  const { subjectId } = subject.json
  const registry = { method: 'REGISTRY', registry: 'PAN', identifier: 'AAACR5678D' }
  const identified = await owner.post(`/v1/identity/subjects/${subjectId}/verifications`, registry)
  const passport = await owner.post(`/v1/identity/subjects/${subjectId}/passports`, { purpose: 'x' })
  const businessPassport = await owner.post(`/v1/kyb/entities/${verified.json.vei}/passports`, { purpose: 'x' })
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
  const consent = await owner.post('/v1/identity/consents', { subjectId, purpose: 'x', fields: ['pan'], expiresAt })
  const requested = await owner.post('/v1/identity/presentations', { purpose: 'x', template: 'company-basic' })
  const issuer = await owner.post('/v1/identity/issuers', {
    iss: 'https://issuer.example',
    vctValues: ['x'],
    issuerMetadata: true,
  })
  const tape = await imported(owner, SMALL_TAPE)
  const bureau = { path: `${BUREAU_FILES}?style=segment-tlv`, type: 'text/plain' }
  const bureauFile = await imported(owner, `${SEGMENTS_HEADER}${borrower('ACC0001')}TRLR`, bureau)
  Object.assign(ids, {
    tapeId: tape.json.importId,
    bureauFileId: bureauFile.json.importId,
    n: '0',
    documentId: pack.json.documents[0].documentId,
    tradePackId: pack.json.packId,
    tradeVerificationId: traded.json.verificationId,
    subjectId,
    identityVerificationId: identified.json.verificationId,
    passportId: passport.json.passportId,
    businessPassportId: businessPassport.json.passportId,
    consentId: consent.json.consentId,
    presentationId: requested.json.presentationId,
    issuerId: issuer.json.issuerId,
    registrationId: made.json.registrationId,
    disputeId: dispute.json.disputeId,
    checkId: checked.json.checkId,
    evaluationId: evaluated.json.evaluationId,
    absenceProofId: absent.json.absenceProofId,
    snapshotId: absent.json.snapshot.snapshotId,
    verificationId: verified.json.verificationId,
    vei: verified.json.vei,
    resolutionId: lei.json.id,
    thumbprint: key.json.thumbprint,
    acceptanceId: accepted.json.acceptanceId,
    receivableRef: 'MINE-1',
  })
})

const unknownOf = (name: string) => {
  if (name === 'n') return '0'
  if (name === 'thumbprint') return 'A'.repeat(43)
  return name === 'vei' ? veiOf(Buffer.alloc(32), 'unknown') : randomUUID()
}

for (const { method, path, operationId } of routes) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? '')
  const filled = (of: (name: string) => string) => path.replace(/\{(\w+)\}/g, (_, name) => of(name))
  const fileId = path.includes('/bureau-files/') ? 'bureauFileId' : 'tapeId'
  const own = (name: string) => ids[name === 'importId' ? fileId : name]
  const ask = (client: ApiClient, to: string) =>
    method === 'get'
      ? client.get(to)
      : method === 'delete'
        ? send(`${base}${to}`, { method: 'DELETE', headers: { authorization: `Bearer ${client.token}` } })
        : client.post(to, BODIES[operationId] ?? {})

  test(`${method} ${path} needs a token, and a scope of its family`, async (t) => {
    const families = path.startsWith('/v1/colending/') ? ['trade' as const] : ['colending' as const]
    const narrow = await openClient(product, base, { families })
    const to = filled(unknownOf)
    t.is((await send(`${base}${to}`, { method: method.toUpperCase() })).status, 401)
    t.is((await ask(narrow, to)).status, 403)
  })

  if (method === 'post' && !KEYLESS.has(operationId))
    test(`${method} ${path} needs an idempotency key`, async (t) => {
      const to = filled((name) => own(name) ?? unknownOf(name))
      const answer = await owner.post(to, {}, { 'x-idempotency-key': '' })
      t.is(answer.status, 400)
      t.is(answer.json.code, 'IDEMPOTENCY_KEY_REQUIRED')
    })

  if (UPLOADS.has(operationId))
    test(`${method} ${path} refuses JSON in place of a file, and unknown parameters`, async (t) => {
      for (const [what, body] of Object.entries(HOSTILE)) t.is((await owner.post(path, body)).status, 415, what)
      const isTape = operationId === 'uploadLoanTape'
      const file = { 'content-type': isTape ? 'text/csv' : 'text/plain' }
      const style = isTape ? '' : 'style=segment-tlv&'
      for (const [parameter, named] of [
        ['surprise=1', 'surprise'],
        ['mapping=none@1', 'mapping'],
        ['mapping=%00', 'mapping'],
      ] as const) {
        const { status, json, text } = await owner.post(`${path}?${style}${parameter}`, Buffer.from('x'), file)
        t.is(status, 400, parameter)
        t.true(
          json.errors.some(({ path: at }: { path: string }) => at === named),
          text,
        )
      }
    })
  else if (method === 'post')
    test(`${method} ${path} answers hostile bodies with 4xx`, async (t) => {
      const to = filled((name) => own(name) ?? unknownOf(name))
      for (const [what, body] of Object.entries(HOSTILE)) {
        const { status, json } = await owner.post(to, body)
        t.is(status, 400, what)
        t.truthy(json.code, what)
      }
      const unknown = await owner.post(to, { ...BODIES[operationId], surprise: 1 })
      t.is(unknown.status, 400)
      t.true(
        unknown.json.errors.some(
          ({ path: at, code }: { path: string; code: string }) => at === 'surprise' && code === 'UNKNOWN_FIELD',
        ),
        unknown.text,
      )
      t.is((await owner.post(to, `{"a":"${'x'.repeat(1_048_576)}"}`)).status, 413)
      t.is((await owner.post(to, '{}', { 'content-type': 'text/plain' })).status, 415)
    })

  // A legal entity identifier is public, and a snapshot covers the whole registry: neither has an owner.
  if (names.length > 0 && !names.includes('lei') && !names.includes('snapshotId'))
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
        filled((name) => own(name) ?? ''),
      )
      t.is(foreign.status, 404, foreign.text)
      t.deepEqual(bare(foreign), bare(await ask(stranger, filled(unknownOf))))
    })
}

test('no listener process loads curve arithmetic or a registry connector', (t) => {
  const graph = new Map<string, string[]>()
  for (const room of ['ingress', 'shared'] as const)
    for (const file of sourcesBelow(room)) {
      const targets = importsOf(readFileSync(join(root, file), 'utf8')).flatMap((name) => fileOf(file, name) ?? [])
      graph.set(file, targets)
    }
  const seen = new Set(sourcesBelow('ingress').filter((file) => !file.startsWith('ingress/admin')))
  for (const file of seen) for (const next of graph.get(file) ?? []) seen.add(next)
  const forbidden = [
    'shared/risk/first-financing/oprf.ts',
    'shared/risk/first-financing/blind-evaluation.ts',
    'shared/risk/first-financing/snapshot-tree.ts',
    'shared/risk/registries/runner.ts',
  ]
  t.deepEqual(
    forbidden.filter((file) => seen.has(file)),
    [],
  )
})
