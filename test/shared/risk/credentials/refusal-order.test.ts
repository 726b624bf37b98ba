import { hash } from 'node:crypto'
import test from 'ava'
import { PresentationQuery } from '#shared/risk/credentials/query.ts'
import { RefusedPresentationError } from '#shared/risk/credentials/refusal.ts'
import { disclose, readSdJwt } from '#shared/risk/credentials/sd-jwt.ts'
import type { CredentialStatus } from '#shared/risk/credentials/status-list.ts'
import type { TrustedIssuer } from '#shared/risk/credentials/trusted-issuer.ts'
import { verifyResponse } from '#shared/risk/credentials/verify-response.ts'
import { generateSigningKey, type SigningKey, signJwt } from '#shared/risk/domain-keys/signing-key.ts'

const NOW = 1_795_256_130
const VCT = 'https://credentials.example/company'
const CLIENT = 'x509_san_dns:verify.example'
let issuer: SigningKey
let holder: SigningKey
let stranger: SigningKey
let trusted: TrustedIssuer

test.before(async () => {
  issuer = await generateSigningKey()
  holder = await generateSigningKey()
  stranger = await generateSigningKey()
  trusted = { ...ROW, keys: [issuer.publicJwk] }
})

const ROW: TrustedIssuer = {
  id: 'a',
  iss: 'https://issuer.example',
  vctValues: [VCT, 'https://credentials.example/other'],
  keys: [],
  caCertificates: [],
  statusHosts: [],
  hasMetadata: false,
  isOperators: false,
  assurance: 'SUBSTANTIAL',
}

/** Faults of one presentation, in the order of docs/spec/evidence-families.md#presentation-response. */
const ORDER = [
  'ALG_NOT_ALLOWED',
  'ISSUER_UNTRUSTED',
  'ISSUER_SIGNATURE',
  'VCT_MISMATCH',
  'NOT_YET_VALID',
  'CREDENTIAL_EXPIRED',
  'DISCLOSURE_INVALID',
  'HOLDER_BINDING_MISSING',
  'KB_SIGNATURE',
  'KB_NONCE',
  'KB_AUD',
  'KB_SD_HASH',
  'KB_IAT',
  'STATUS_REVOKED',
  'CLAIM_MISSING',
  'CLAIM_VALUE_MISMATCH',
  'QUERY_NOT_SATISFIED',
] as const
type Fault = (typeof ORDER)[number]

interface Times {
  nbf?: number
  exp?: number
  kbIat?: number
  kbNbf?: number
  kbExp?: number | string
}

/** Creates a presentation with these faults, and the query that it answers. */
async function make(faults: readonly Fault[], times: Times = {}) {
  const has = (fault: Fault) => faults.includes(fault)
  const texts = [
    ['s1', 'legalName', 'Synthetic'],
    ...(has('CLAIM_MISSING') ? [] : [['s2', 'gstin', '29AAACR5678D1Z5']]),
  ].map((disclosure) => Buffer.from(JSON.stringify(disclosure)).toString('base64url'))
  const { kid: _kid, ...cnf } = holder.publicJwk
  const payload = {
    iss: trusted.iss,
    vct: VCT,
    cnf: { jwk: cnf },
    nbf: has('NOT_YET_VALID') ? NOW + 3_600 : (times.nbf ?? NOW - 10),
    exp: has('CREDENTIAL_EXPIRED') ? NOW - 3_600 : (times.exp ?? NOW + 10),
    status: { status_list: { uri: 'https://issuer.example/list', idx: 0 } },
    _sd: texts.map((text) => hash('sha256', text, 'base64url')),
  }
  const signer = has('ISSUER_SIGNATURE') ? stranger : issuer
  const signed = await signJwt(payload, { typ: 'dc+sd-jwt', kid: issuer.publicJwk.kid ?? '' }, signer.privateJwk)
  const header = Buffer.from('{"alg":"HS256","typ":"dc+sd-jwt"}').toString('base64url')
  const jwt = has('ALG_NOT_ALLOWED') ? signed.replace(/^[^.]+/, header) : signed
  const more = has('DISCLOSURE_INVALID') ? [Buffer.from('["s","other",1]').toString('base64url')] : []
  const bound = `${[jwt, ...texts, ...more].join('~')}~`
  const binding = {
    nonce: has('KB_NONCE') ? 'x' : 'n',
    aud: has('KB_AUD') ? 'verify.example' : CLIENT,
    sd_hash: has('KB_SD_HASH') ? 'x' : hash('sha256', bound, 'base64url'),
    iat: has('KB_IAT') ? NOW - 3_600 : (times.kbIat ?? NOW),
    nbf: times.kbNbf,
    exp: times.kbExp,
  }
  const typ = has('HOLDER_BINDING_MISSING') ? 'JWT' : 'kb+jwt'
  const kb = await signJwt(binding, { typ }, (has('KB_SIGNATURE') ? stranger : holder).privateJwk)
  const credential = (id: string) => ({
    id,
    format: 'dc+sd-jwt',
    meta: { vct_values: [has('VCT_MISMATCH') ? 'https://credentials.example/other' : VCT] },
    claims: [
      { path: ['legalName'], ...(has('CLAIM_VALUE_MISMATCH') ? { values: ['Another'] } : {}) },
      { path: ['gstin'] },
    ],
  })
  const query = PresentationQuery.parse({
    credentials: [credential('company'), ...(has('QUERY_NOT_SATISFIED') ? [credential('second')] : [])],
  })
  return { query, token: { company: [bound + kb] } }
}

async function reasonOf(faults: readonly Fault[], times: Times = {}, status: CredentialStatus = 'VALID') {
  const { query, token } = await make(faults, times)
  return await resultOf(token, query, faults.includes('ISSUER_UNTRUSTED') ? [] : [trusted], {
    status: faults.includes('STATUS_REVOKED') ? 'REVOKED' : status,
  })
}

async function resultOf(
  token: Parameters<typeof verifyResponse>[0],
  query: PresentationQuery,
  issuers: TrustedIssuer[],
  { status }: { status: CredentialStatus },
) {
  const checks = { trusted: async () => issuers, fetchKeys: async () => [], statusOf: async () => status, now: NOW }
  try {
    await verifyResponse(token, query, { nonce: 'n', clientId: CLIENT, requestedAt: NOW - 20 }, checks)
    return 'verified'
  } catch (error) {
    if (error instanceof RefusedPresentationError) return error.reason
    throw error
  }
}

test('the reason is the first remaining failure in the documented order', async (t) => {
  const found: string[] = []
  for (let first = 0; first <= ORDER.length; first++) found.push(await reasonOf(ORDER.slice(first)))
  t.deepEqual(found, [...ORDER, 'verified'])
})

test('a status that is not valid refuses the credential', async (t) => {
  for (const status of ['REVOKED', 'SUSPENDED', 'UNAVAILABLE'] as const)
    t.is(await reasonOf(['CLAIM_MISSING'], {}, status), `STATUS_${status}`)
})

test('clocks may differ by at most a minute', async (t) => {
  const cases: [Times, string][] = [
    [{ exp: NOW - 59 }, 'verified'],
    [{ exp: NOW - 60 }, 'CREDENTIAL_EXPIRED'],
    [{ nbf: NOW + 60 }, 'verified'],
    [{ nbf: NOW + 61 }, 'NOT_YET_VALID'],
    [{ kbIat: NOW - 20 - 60 }, 'verified'],
    [{ kbIat: NOW - 20 - 61 }, 'KB_IAT'],
    [{ kbIat: NOW + 60 }, 'verified'],
    [{ kbIat: NOW + 61 }, 'KB_IAT'],
    [{ kbExp: NOW - 59 }, 'verified'],
    [{ kbExp: NOW - 60 }, 'KB_IAT'],
    [{ kbExp: 'never' }, 'KB_IAT'],
    [{ kbNbf: NOW + 60 }, 'verified'],
    [{ kbNbf: NOW + 61 }, 'KB_IAT'],
    [{ kbNbf: NOW, kbExp: NOW + 60 }, 'verified'],
  ]
  for (const [times, expected] of cases) t.is(await reasonOf([], times), expected, JSON.stringify(times))
})

test('a token is checked for form, then query ids, then counts', async (t) => {
  const { query, token } = await make([])
  const [good = ''] = token.company
  const { token: bad } = await make(['ALG_NOT_ALLOWED'])
  const result = (vpToken: Parameters<typeof verifyResponse>[0]) =>
    resultOf(vpToken, query, [trusted], { status: 'VALID' })
  t.is(await result({ company: [good, good], other: ['x'] }), 'VP_TOKEN_MALFORMED')
  t.is(await result({ company: [good, good], other: [good] }), 'UNKNOWN_QUERY_ID')
  t.is(await result({ company: [...bad.company, good] }), 'TOO_MANY_PRESENTATIONS')
  for (const malformed of [{ company: good }, { company: [] }, { company: [1] }])
    t.is(await result(malformed), 'VP_TOKEN_MALFORMED', JSON.stringify(malformed).slice(0, 20))
  t.is(await result({ company: [good] }), 'verified')
})

test('a query is limited to five credentials, thirty claims each, and 16 KiB', (t) => {
  const claim = (name: string) => ({ path: [name] })
  const credential = (id: string, claims = [claim('a')]) => ({
    id,
    format: 'dc+sd-jwt',
    meta: { vct_values: ['x'] },
    claims,
  })
  const accepts = (credentials: object[]) => PresentationQuery.safeParse({ credentials }).success
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => credential(id))
  t.deepEqual([accepts(ids.slice(0, 5)), accepts(ids), accepts([])], [true, false, false])
  const claims = Array.from({ length: 31 }, (_, at) => claim(`c${at}`))
  t.deepEqual([accepts([credential('a', claims.slice(1))]), accepts([credential('a', claims)])], [true, false])
  const long = Array.from({ length: 30 }, (_, at) => ({
    path: Array.from({ length: 8 }, () => `${at}`.padEnd(98, 'x')),
  }))
  t.false(accepts([credential('a', long)]))
  for (const name of ['aadhaar', 'aadhaarNumber', 'uid', 'Aadhaar_Number'])
    t.false(accepts([credential('a', [claim(name)])]), name)
})

test('a credential names its hash algorithm only at the top level', (t) => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const nested = { _sd_alg: 'sha-256' }
  const hidden = part(['s', 'address', nested])
  const digests = { _sd: [hash('sha256', hidden, 'base64url')] }
  const isAccepted = (payload: object, ...disclosures: string[]) => {
    const jwt = `${part({ alg: 'ES256', typ: 'dc+sd-jwt' })}.${part(payload)}.AA`
    const presented = readSdJwt([jwt, ...disclosures, ''].join('~'))
    return presented !== null && disclose(presented) !== null
  }
  t.true(isAccepted({ _sd_alg: 'sha-256', address: {} }))
  t.false(isAccepted({ address: nested }))
  t.false(isAccepted({ list: [[nested]] }))
  t.true(isAccepted(digests), 'not disclosed')
  t.false(isAccepted(digests, hidden))
  const top = part(['s', '_sd_alg', 'sha-256'])
  t.false(isAccepted({ _sd: [hash('sha256', top, 'base64url')] }, top))
})
