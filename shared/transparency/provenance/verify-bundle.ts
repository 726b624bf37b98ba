import { type JsonObject, type JsonValue, parseJsonBytes } from '../../canonical/parse-json.ts'
import { AnchoringError } from '../anchoring/anchoring-error.ts'
import type { TrustPolicy } from '../anchoring/policy.ts'
import { type Check, conclude, failed, passed, type Verification, verifyAnchored } from '../anchoring/verify.ts'
import { bundleError } from './bagit.ts'
import { isBundle, parseBundle, readStatement, verifyBundle } from './bundle.ts'
import type { EvidenceKey } from './dsse.ts'
import { isPoolBundle, verifyPoolBundle } from './verify-pool-bundle.ts'
import { readZip } from './zip.ts'

const BUNDLE = 'data/bundle.json'
const FINDINGS = 'data/checks.json'

/** Works offline. @throws AnchoringError BAG_MALFORMED, ENVELOPE_MALFORMED */
export async function verifyBagitBundle(
  bytes: Buffer,
  trusted?: readonly EvidenceKey[],
  policy?: TrustPolicy,
): Promise<Verification> {
  const files = await readZip(bytes)
  const fault = bundleError(files)
  const manifests =
    fault === null ? passed('bundle', 'every file matches its manifest') : failed('bundle', 'MANIFEST_MISMATCH', fault)
  if (isPoolBundle(files)) return verifyPoolBundle(files, manifests, policy)
  const value = jsonOf(files.get(BUNDLE))
  if (value === null || typeof value !== 'object' || Array.isArray(value) || !isBundle(value)) {
    throw new AnchoringError('BAG_MALFORMED', `the bag contains no ${BUNDLE}`)
  }
  const bundle = parseBundle(value)
  const verification = verifyBundle(bundle, trusted, policy)
  const findings = findingsCheck(readStatement(bundle.envelope)?.value, jsonOf(files.get(FINDINGS)))
  return { ...verification, ...conclude([manifests, findings, ...verification.checks]) }
}

function jsonOf(bytes: Buffer | undefined): JsonValue {
  return bytes ? parseJsonBytes(bytes, { allowNul: true }) : null
}

/** The findings must be unchanged and exactly those whose txIds the statement contains. */
function findingsCheck(statement: JsonObject | undefined, findings: JsonValue): Check {
  const refuse = failed('findings', 'MANIFEST_MISMATCH', 'the findings are not those that the statement names')
  if (!Array.isArray(findings)) return refuse
  const named = namedFindings(statement)
  if (named.length !== findings.length) return refuse
  for (const [index, finding] of findings.entries()) {
    if (finding === null || typeof finding !== 'object' || Array.isArray(finding)) return refuse
    const { txId, checks } = verifyAnchored(finding)
    if (txId !== named[index] || checks.some(({ result }) => result === 'failed')) return refuse
  }
  return passed('findings', 'each finding is the one whose txId the statement names')
}

function namedFindings(statement: JsonObject | undefined): (JsonValue | undefined)[] {
  const predicate = statement?.predicate
  const checks = predicate && typeof predicate === 'object' && !Array.isArray(predicate) ? predicate.checks : undefined
  if (!Array.isArray(checks)) return []
  return checks.flatMap((check) =>
    check !== null && typeof check === 'object' && !Array.isArray(check) && check.verificationId !== undefined
      ? [check.txId]
      : [],
  )
}
