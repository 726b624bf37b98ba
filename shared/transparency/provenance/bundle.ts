import { hash } from 'node:crypto'
import { CanonicalJsonError, canonicalize } from '../../canonical/jcs.ts'
import { JsonParseError } from '../../canonical/json-parser.ts'
import { type JsonObject, type JsonValue, parseJson } from '../../canonical/parse-json.ts'
import { AnchoringError } from '../anchoring/anchoring-error.ts'
import type { TrustPolicy } from '../anchoring/policy.ts'
import { parseProofBundle } from '../anchoring/proof-bundle.ts'
import {
  type Check,
  conclude,
  failed,
  inconclusive,
  passed,
  type Verification,
  verifyAnchored,
} from '../anchoring/verify.ts'
import { checkEnvelope, decodeEither, type Envelope, type EvidenceKey, parseEnvelope, STATEMENT_TYPE } from './dsse.ts'

export const BUNDLE_TYPE = 'application/vnd.signalbox.trade-pack+json'
const STATEMENT = 'https://in-toto.io/Statement/v1'

/** Keys inside a bundle prove nothing and are ignored. */
export interface Bundle {
  readonly envelope: Envelope
  readonly record: JsonObject
  /** c2sp.org/tlog-proof@v1; null until a checkpoint covers the record */
  readonly proof: string | null
}

export interface Statement {
  readonly bytes: Uint8Array
  readonly value: JsonObject
}

export function isBundle(value: JsonObject): boolean {
  return value.envelope !== undefined && value.record !== undefined
}

export function parseBundle(value: JsonObject): Bundle {
  const { record, proof = null } = value
  if (record === null || record === undefined || typeof record !== 'object' || Array.isArray(record)) throw malformed()
  if (proof !== null && typeof proof !== 'string') throw malformed()
  return { envelope: parseEnvelope(value.envelope), record, proof }
}

function malformed(): AnchoringError {
  return new AnchoringError('ENVELOPE_MALFORMED', 'not a bundle: expected an envelope, a record and a proof')
}

/** Undefined unless it is in-toto in canonical form. */
export function readStatement({ payload, payloadType }: Envelope): Statement | undefined {
  const bytes = decodeEither(payload)
  if (payloadType !== STATEMENT_TYPE || !bytes) return undefined
  try {
    const text = Buffer.from(bytes).toString('utf8')
    const value: JsonValue = parseJson(text)
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return undefined
    return value._type === STATEMENT && canonicalize(value) === text ? { bytes, value } : undefined
  } catch (error) {
    if (error instanceof JsonParseError || error instanceof CanonicalJsonError) return undefined
    throw error
  }
}

/** Verifies a bundle offline. @param trusted keys from another source; without them the signature check stays open */
export function verifyBundle(bundle: Bundle, trusted?: readonly EvidenceKey[], policy?: TrustPolicy): Verification {
  const statement = readStatement(bundle.envelope)
  const anchored = verifyAnchored(bundle.record, proofOf(bundle), policy)
  const checks = [signatureCheck(bundle.envelope, trusted), statementCheck(statement), recordCheck(bundle, statement)]
  return { ...anchored, ...conclude([...checks, ...anchored.checks]) }
}

function proofOf({ proof }: Bundle) {
  if (proof === null) return undefined
  try {
    return parseProofBundle(proof)
  } catch (error) {
    if (!(error instanceof AnchoringError)) throw error
    // An empty proof fails the verification.
    return { inclusion: { index: 0, hashes: [] }, checkpoint: '' }
  }
}

function signatureCheck(envelope: Envelope, trusted: readonly EvidenceKey[] | undefined): Check {
  if (!trusted)
    return inconclusive('signature', 'KEY_NOT_GIVEN', 'no trusted evidence key was given: anyone could have signed')
  const result = checkEnvelope(envelope, trusted)
  if (result === 'SIGNED') return passed('signature', 'a trusted evidence key signed the statement')
  return result === 'KEY_UNKNOWN'
    ? failed('signature', 'KEY_UNKNOWN', 'no signature names a trusted key')
    : failed('signature', 'SIGNATURE', 'the signature does not match the key that it names')
}

function statementCheck(statement: Statement | undefined): Check {
  return statement
    ? passed('statement', 'the payload is a canonical in-toto statement')
    : failed('statement', 'PAYLOAD', 'the payload is not a canonical in-toto statement')
}

function recordCheck({ record }: Bundle, statement: Statement | undefined): Check {
  const digest = statement && hash('sha256', statement.bytes, 'hex')
  return digest !== undefined && record.statementSha256 === digest
    ? passed('record', 'the anchored record names the SHA-256 of the statement')
    : failed('record', 'RECORD_HASH', 'the anchored record belongs to another statement')
}
