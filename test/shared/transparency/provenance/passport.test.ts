import { randomBytes } from 'node:crypto'
import test from 'ava'
import type { JsonObject } from '#shared/canonical/parse-json.ts'
import { issueSdJwt } from '#shared/risk/credentials/issue.ts'
import { deflateList } from '#shared/risk/credentials/status-list.ts'
import { generateSigningKey, type SigningKey, signJwt } from '#shared/risk/domain-keys/signing-key.ts'
import { anchorObject } from '#shared/transparency/anchoring/leaf.ts'
import {
  isCredential,
  parsePassportIssuer,
  readPassport,
  verifyPassport,
} from '#shared/transparency/provenance/passport.ts'

const ISS = 'https://verify.example'
const URI = `${ISS}/v1/identity/status-lists/1`
const NOW = Date.parse('2026-11-21T12:00:00Z')
const AT = { eventType: 'identity.passport_issued', timestamp: '2026-11-21T10:15:30.123Z' }
let key: SigningKey
let other: SigningKey

test.before(async () => {
  key = await generateSigningKey()
  other = await generateSigningKey()
})

const issuerOf = (...keys: SigningKey[]) =>
  parsePassportIssuer({ issuer: ISS, jwks: { keys: keys.map(({ publicJwk }) => publicJwk as JsonObject) } })

const facts = {
  passportId: '6f1c6d1e-3a0f-4a57-9f0f-0f6a7f1f2b11',
  subjectRef: 'sr_4Zp0yq7mT0m5XcQv1sJY2w',
  kind: 'KYC',
  purpose: 'a loan',
  issuedAt: AT.timestamp,
  expiresAt: '2027-01-01T00:00:00.000Z',
  statusList: { uri: URI, idx: 9 },
  ...AT,
}
const record: JsonObject = { ...facts, anchor: { ...anchorObject(facts, AT).anchor } }

const certify = async (object: JsonObject, by = key, claims: object = {}) => {
  const { statusList, ...rest } = object
  const payload = {
    iss: ISS,
    vct: `${ISS}/credentials/kyc-passport/1`,
    iat: 1,
    exp: 2,
    status: { status_list: statusList },
    ...rest,
    ...claims,
  }
  return await issueSdJwt(payload, {}, { kid: by.publicJwk.kid ?? '', key: by.privateJwk }, randomBytes)
}
const listOf = async (revoked: number[], by = key, claims: object = {}, typ = 'statuslist+jwt') => {
  const lst = await deflateList(64, 1, new Map(revoked.map((idx) => [idx, 1])))
  const payload = { iss: ISS, sub: URI, iat: NOW / 1000 - 10, ttl: 60, status_list: { bits: 1, lst }, ...claims }
  return await signJwt(payload, { typ, kid: by.publicJwk.kid ?? '' }, by.privateJwk)
}

type Trust = Partial<Parameters<typeof verifyPassport>[1]>
/**
 * Returns the failed and open steps of the passport itself with their codes; without a proof those of the log are open.
 */
const faults = (input: JsonObject | string, trust: Trust = {}) => {
  const passport = readPassport(input)
  if (!passport) return ['no passport']
  const { checks } = verifyPassport(passport, { issuer: issuerOf(key), statusList: undefined, nowMs: NOW, ...trust })
  return checks
    .filter(({ name, result }) => result !== 'passed' && !['inclusion', 'checkpoint', 'witnesses'].includes(name))
    .map(({ name, result, code }) => `${name} ${result} ${code}`)
}

test('a passport is accepted as credential, object, or both', async (t) => {
  const credential = await certify(record)
  t.true(isCredential(`${credential}\n`))
  t.false(isCredential(JSON.stringify(record)))
  const statusList = await listOf([8, 10])
  for (const input of [credential, { record, credential, passportId: 'x', revocation: null }, record])
    t.deepEqual(faults(input, { statusList }), [])
  t.deepEqual(faults(credential), ['status open STATUS_NOT_GIVEN'])
  t.deepEqual(faults(record), [], 'an object alone has only its anchor')
  t.is(readPassport({ ...record, eventType: 'kyb.completed' }), undefined)
})

test('a passport with another signer or other claims fails', async (t) => {
  const credential = await certify(record)
  const statusList = await listOf([])
  const forged = await certify(record, { ...other, publicJwk: key.publicJwk })
  const cases: [string, string | JsonObject, Trust, string[]][] = [
    ['another key', forged, {}, ['signature failed SIGNATURE']],
    ['an unknown key', await certify(record, other), {}, ['signature failed KEY_UNKNOWN']],
    ['another issuer', await certify(record, key, { iss: 'https://x' }), {}, ['signature failed KEY_UNKNOWN']],
    [
      'no trusted issuer',
      credential,
      { issuer: undefined },
      ['signature open KEY_NOT_GIVEN', 'status open KEY_NOT_GIVEN'],
    ],
    [
      'another purpose',
      await certify({ ...record, purpose: 'x' }),
      {},
      ['payload failed PAYLOAD_HASH_MISMATCH', 'entry failed TX_ID_MISMATCH'],
    ],
    [
      'another record',
      { record, credential: await certify({ ...record, purpose: 'x' }) },
      {},
      ['record failed RECORD_HASH'],
    ],
    [
      'no record',
      { credential },
      {},
      [
        'record failed RECORD_HASH',
        'expiry failed EXPIRED',
        'status failed STATUS_INVALID',
        'payload failed ANCHOR_MISSING',
      ],
    ],
  ]
  for (const [description, input, trust, expected] of cases)
    t.deepEqual(faults(input, { statusList, ...trust }), expected, description)
  const none = credential.replace(/^[^.]+/, Buffer.from('{"alg":"none","kid":"x"}').toString('base64url'))
  t.deepEqual(faults(none, { statusList }), ['signature failed KEY_UNKNOWN'])
  t.throws(() => readPassport('a.b.c~'), { message: /not a signed JWT/ })
  t.throws(() => parsePassportIssuer({ issuer: ISS }), { message: /not the metadata of an issuer/ })
})

test('revoked and expired passports, and invalid status lists, are reported', async (t) => {
  const credential = await certify(record)
  const cases: [string, string, string[]][] = [
    ['revoked', await listOf([9]), ['status failed REVOKED']],
    ['signed by another', await listOf([], other), ['status failed KEY_UNKNOWN']],
    ['forged', await listOf([9], { ...other, publicJwk: key.publicJwk }), ['status failed SIGNATURE']],
    ['of another address', await listOf([], key, { sub: 'https://x' }), ['status failed STATUS_INVALID']],
    ['of another type', await listOf([], key, {}, 'JWT'), ['status failed STATUS_INVALID']],
    ['of two bits', await listOf([], key, { status_list: { bits: 2, lst: 'x' } }), ['status failed STATUS_INVALID']],
    [
      'that does not inflate',
      await listOf([], key, { status_list: { bits: 1, lst: 'x' } }),
      ['status failed STATUS_INVALID'],
    ],
    ['of no time', await listOf([], key, { iat: undefined }), ['status failed STATUS_INVALID']],
    ['that is malformed', 'x', ['status failed STATUS_INVALID']],
  ]
  for (const [description, statusList, expected] of cases)
    t.deepEqual(faults(credential, { statusList }), expected, description)
  const late = Date.parse('2027-01-01T00:00:00Z')
  t.deepEqual(faults(credential, { statusList: await listOf([]), nowMs: late }), ['expiry failed EXPIRED'])
  t.deepEqual(faults(record, { nowMs: late }), [], 'an object does not expire')
})
