import { CanonicalJsonError } from '../../canonical/jcs.ts'
import type { JsonObject } from '../../canonical/parse-json.ts'
import { AnchoringError } from './anchoring-error.ts'
import { decodeCheckpoint, readCheckpoint } from './checkpoint.ts'
import { decodeLogEntry, encodeLogEntry, eventOf, type LogEntry, payloadSha256, txIdOf } from './leaf.ts'
import { leafHash, verifyInclusion } from './merkle.ts'
import { isQuorumReached, policyKeys, type TrustPolicy } from './policy.ts'
import type { ProofBundle } from './proof-bundle.ts'

export type CheckName =
  | 'absence'
  | 'expiry'
  | 'status'
  | 'bundle'
  | 'membership'
  | 'signature'
  | 'statement'
  | 'record'
  | 'member'
  | 'findings'
  | 'payload'
  | 'entry'
  | 'inclusion'
  | 'checkpoint'
  | 'witnesses'
  | 'order'
  | 'uptime'
  | 'stated'
  | 'chain'
  | 'days'

type CheckCode =
  | 'ANCHOR_MISSING'
  | 'ANCHOR_MALFORMED'
  | 'OBJECT_MALFORMED'
  | 'PAYLOAD_HASH_MISMATCH'
  | 'ENTRY_MALFORMED'
  | 'ENTRY_MISMATCH'
  | 'TX_ID_MISMATCH'
  | 'ENTRY_UNKNOWN'
  | 'PROOF_MISSING'
  | 'INCLUSION_INVALID'
  | 'MEMBERSHIP_INVALID'
  | 'CHECKPOINT_INVALID'
  | 'KEY_NOT_GIVEN'
  | 'POLICY_NOT_GIVEN'
  | 'QUORUM_NOT_REACHED'
  | 'KEY_UNKNOWN'
  | 'SIGNATURE'
  | 'PAYLOAD'
  | 'RECORD_HASH'
  | 'MEMBER_INVALID'
  | 'ABSENCE_INVALID'
  | 'ORDER_MISMATCH'
  | 'EXPIRED'
  | 'REVOKED'
  | 'STATUS_INVALID'
  | 'STATUS_NOT_GIVEN'
  | 'MANIFEST_MISMATCH'
  | 'RECORD_MALFORMED'
  | 'RECORD_OF_OTHER_CHECK'
  | 'SUMS_MISMATCH'
  | 'CHAIN_BROKEN'
  | 'DAY_MISSING'

export interface Check {
  readonly name: CheckName
  /** `open`: inconclusive, because the input does not contain enough for this step */
  readonly result: 'passed' | 'failed' | 'open'
  readonly code?: CheckCode
  readonly detail: string
}

export interface Verification {
  /**
   * VERIFIED: included in a log that a trusted key signed. FAILED: a step failed. PARTIAL: none failed, one is open.
   */
  readonly result: 'VERIFIED' | 'PARTIAL' | 'FAILED'
  readonly payloadSha256?: string
  readonly txId?: string
  readonly checks: readonly Check[]
}

const TX_ID = /^[0-9a-f]{64}$/

/** Works offline. Only `policy`, with keys and quorum, is trusted. */
export function verifyAnchored(object: JsonObject, proof?: ProofBundle, policy?: TrustPolicy): Verification {
  const anchor = readAnchor(object)
  if (typeof anchor === 'string') return conclude([failed('payload', anchor, 'the object has no valid anchor block')])

  const digest = digestOf(object)
  if (digest === undefined) return conclude([failed('payload', 'OBJECT_MALFORMED', 'the object has no canonical form')])
  return verifyFacts({ anchor, digest, stated: eventOf(object) }, proof, policy)
}

export interface AnchoredFacts {
  anchor: { txId: string; payloadSha256: string } | 'ANCHOR_MISSING' | 'ANCHOR_MALFORMED'
  /** SHA-256 of the canonical object without its anchor, in lower-case hex */
  digest: string
  /** event type and instant that the object states */
  stated: Pick<LogEntry, 'eventType' | 'timestamp'> | undefined
}

/** @throws CanonicalJsonError */
export function factsOf(object: JsonObject): AnchoredFacts {
  return { anchor: readAnchor(object), digest: payloadSha256(object), stated: eventOf(object) }
}

/** If the object has no anchor but states its event and instant, adds the anchor that it would have. */
export function withOwnAnchor(facts: AnchoredFacts): AnchoredFacts {
  const { anchor, digest, stated } = facts
  if (anchor !== 'ANCHOR_MISSING' || !stated) return facts
  try {
    const txId = txIdOf(encodeLogEntry({ ...stated, payloadSha256: digest }))
    return { ...facts, anchor: { txId, payloadSha256: digest } }
  } catch (error) {
    // The stated event is not a valid log entry.
    if (error instanceof AnchoringError) return facts
    throw error
  }
}

export function verifyFacts(facts: AnchoredFacts, proof?: ProofBundle, policy?: TrustPolicy): Verification {
  const checks: Check[] = []
  const { anchor, digest, stated } = facts
  if (typeof anchor === 'string') return conclude([failed('payload', anchor, 'the object has no valid anchor block')])
  checks.push(
    digest === anchor.payloadSha256
      ? passed('payload', 'the SHA-256 of the canonical object is the payloadSha256 of its anchor')
      : failed('payload', 'PAYLOAD_HASH_MISMATCH', `the canonical object hashes to ${digest}: it was changed`),
  )
  const entry = checkEntry(stated, digest, anchor.txId, proof?.entry)
  checks.push(entry.check)
  checks.push(...checkProof(anchor.txId, entry.bytes, proof, policy))
  return { ...conclude(checks), payloadSha256: digest, txId: anchor.txId }
}

function readAnchor(object: JsonObject): AnchoredFacts['anchor'] {
  const { anchor } = object
  if (anchor === undefined || anchor === null) return 'ANCHOR_MISSING'
  if (typeof anchor !== 'object' || Array.isArray(anchor)) return 'ANCHOR_MALFORMED'
  const { txId, payloadSha256: digest } = anchor
  if (typeof txId !== 'string' || typeof digest !== 'string' || !TX_ID.test(txId)) return 'ANCHOR_MALFORMED'
  return { txId, payloadSha256: digest }
}

function digestOf(object: JsonObject): string | undefined {
  try {
    return payloadSha256(object)
  } catch (error) {
    if (error instanceof CanonicalJsonError || error instanceof AnchoringError) return undefined
    throw error
  }
}

/** The log entry must contain the digest, event type and instant of the object, and hash to the txId. */
function checkEntry(
  stated: AnchoredFacts['stated'],
  digest: string,
  txId: string,
  claimed: string | undefined,
): { check: Check; bytes?: Uint8Array } {
  let entry: LogEntry | undefined
  try {
    entry =
      claimed === undefined ? stated && { ...stated, payloadSha256: digest } : decodeLogEntry(Buffer.from(claimed))
    if (entry === undefined)
      return {
        check: inconclusive(
          'entry',
          'ENTRY_UNKNOWN',
          'the object states no event type and instant, and no log entry was given',
        ),
      }
    const bytes = encodeLogEntry(entry)
    if (entry.payloadSha256 !== digest)
      return { check: failed('entry', 'ENTRY_MISMATCH', 'the log entry belongs to another object') }
    if (stated && (stated.eventType !== entry.eventType || stated.timestamp !== entry.timestamp))
      return { check: failed('entry', 'ENTRY_MISMATCH', 'the log entry has another event type or instant') }
    if (txIdOf(bytes) !== txId)
      return { check: failed('entry', 'TX_ID_MISMATCH', `the log entry hashes to ${txIdOf(bytes)}, not to the txId`) }
    return { check: passed('entry', 'the txId is the leaf hash of the log entry for this object'), bytes }
  } catch (error) {
    if (!(error instanceof AnchoringError)) throw error
    return { check: failed('entry', 'ENTRY_MALFORMED', 'the log entry is malformed') }
  }
}

function checkProof(
  txId: string,
  entry: Uint8Array | undefined,
  proof: ProofBundle | undefined,
  policy: TrustPolicy | undefined,
): Check[] {
  if (proof?.inclusion === undefined || proof.checkpoint === undefined) {
    const state = proof?.state === 'PENDING' ? ' (the service reports that it is still pending)' : ''
    return [
      inconclusive('inclusion', 'PROOF_MISSING', `no proof was given that the log includes the txId${state}`),
      inconclusive('checkpoint', 'PROOF_MISSING', 'no checkpoint was given'),
      inconclusive('witnesses', 'PROOF_MISSING', 'no checkpoint was given'),
    ]
  }
  const { index, hashes } = proof.inclusion
  let included: Check
  try {
    const { size, root } = readCheckpoint(proof.checkpoint)
    // The txId is a leaf hash by definition, so inclusion can be verified without the entry.
    const leaf = entry === undefined ? Buffer.from(txId, 'hex') : leafHash(entry)
    included = verifyInclusion(leaf, index, size, hashes, root)
      ? passed('inclusion', `entry ${index} of the tree of ${size} is the txId`)
      : failed('inclusion', 'INCLUSION_INVALID', 'the inclusion proof does not lead from the txId to the checkpoint')
  } catch (error) {
    if (!(error instanceof AnchoringError)) throw error
    included = failed('inclusion', 'CHECKPOINT_INVALID', error.message)
  }
  return [included, ...checkSignatures(proof.checkpoint, policy)]
}

function checkSignatures(note: string, policy: TrustPolicy | undefined): Check[] {
  if (policy === undefined || policy.logs.length === 0)
    return [
      inconclusive(
        'checkpoint',
        'KEY_NOT_GIVEN',
        'no trusted log key was given: anyone could have made this checkpoint',
      ),
      inconclusive('witnesses', 'KEY_NOT_GIVEN', 'no trusted log key was given'),
    ]
  try {
    const { logKey, checkpoint, cosignatures } = decodeCheckpoint(note, policyKeys(policy))
    const signed = passed('checkpoint', `signed by ${logKey.name}, tree size ${checkpoint.size}`)
    return [signed, checkQuorum(policy, cosignatures)]
  } catch (error) {
    if (!(error instanceof AnchoringError)) throw error
    return [
      failed('checkpoint', 'CHECKPOINT_INVALID', error.message),
      inconclusive('witnesses', 'CHECKPOINT_INVALID', 'the checkpoint is not trusted'),
    ]
  }
}

function checkQuorum(policy: TrustPolicy, cosignatures: ReturnType<typeof decodeCheckpoint>['cosignatures']): Check {
  const names = cosignatures.map(({ key, time = 0 }) => `${key.name} at ${new Date(time * 1000).toISOString()}`)
  if (policy.quorum === undefined)
    return inconclusive(
      'witnesses',
      'POLICY_NOT_GIVEN',
      'the keys or the policy require no witness: the operator could show another tree to others',
    )
  return isQuorumReached(
    policy,
    cosignatures.map(({ key }) => key),
  )
    ? passed('witnesses', `cosigned by ${names.join(', ')}`)
    : failed(
        'witnesses',
        'QUORUM_NOT_REACHED',
        `the quorum is not reached; cosigned by ${names.join(', ') || 'no trusted witness'}`,
      )
}

/** Open steps with these codes do not prevent the result VERIFIED. */
const OPTIONAL: ReadonlySet<CheckCode | undefined> = new Set<CheckCode>(['POLICY_NOT_GIVEN', 'STATUS_NOT_GIVEN'])

/** FAILED if a step failed, VERIFIED if every required step passed, otherwise PARTIAL. */
export function conclude(checks: readonly Check[]): Verification {
  const needed = checks.filter(({ code }) => !OPTIONAL.has(code))
  if (needed.some(({ result }) => result === 'failed')) return { result: 'FAILED', checks }
  return { result: needed.every(({ result }) => result === 'passed') ? 'VERIFIED' : 'PARTIAL', checks }
}

export function passed(name: CheckName, detail: string): Check {
  return { name, result: 'passed', detail }
}

export function failed(name: CheckName, code: CheckCode, detail: string): Check {
  return { name, result: 'failed', code, detail }
}

export function inconclusive(name: CheckName, code: CheckCode, detail: string): Check {
  return { name, result: 'open', code, detail }
}
