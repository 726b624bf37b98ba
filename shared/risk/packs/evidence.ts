import type { ConsentRef, EvidenceTier, MissingReason, RegistryResult } from '../registries/connector.ts'
import type { PackRegistryResults } from './policy.ts'
import type { PackRequest } from './request.ts'
import type { RegistryFindings } from './signals/double-financing.ts'
import type { AssessedToken } from './signals/e-invoice.ts'

export interface EvidenceRecord {
  /** member of `signals`, or named input, that uses this record */
  key: string
  source: string
  tier: EvidenceTier
  /** ISO 8601 UTC */
  observedAt: string
  asOf: string | null
  consent: ConsentRef | null
  rawSha256: string | null
  missingReason: MissingReason | null
  connectorVersion: string | null
  policyVersion: string
  /** stable code; null without a check */
  finding: string | null
}

interface EvidenceInput {
  generatedAt: string
  policyVersion: string
  request: PackRequest
  results: PackRegistryResults
  findings: RegistryFindings
  tokens: readonly { sha256: string; assessed: AssessedToken }[]
}

/** In the order of the contract's members. */
export function packEvidence(input: EvidenceInput): EvidenceRecord[] {
  const { results, policyVersion } = input
  const registry = (key: string, result: RegistryResult<unknown>) => fromRegistry(key, result, policyVersion)
  return [
    registry('tradeRelationship.ab', results.trade.ab),
    registry('tradeRelationship.bc', results.trade.bc),
    registry('taxpayerStatus.buyer', results.taxpayer.buyer),
    registry('taxpayerStatus.borrower', results.taxpayer.borrower),
    registry('taxpayerStatus.subcontractor', results.taxpayer.subcontractor),
    registry('subcontractorCapacity.annualTurnoverInr', results.turnover.subcontractor),
    registry('subcontractorCapacity.activeEmployeeCount', results.headcount.subcontractor),
    declared('subcontractorCapacity.orderValueInr', input),
    registry('borrowerCapacity.annualTurnoverInr', results.turnover.borrower),
    registry('borrowerCapacity.activeEmployeeCount', results.headcount.borrower),
    declared('borrowerCapacity.orderValueInr', input),
    registryRecord(input),
    registry('doubleFinancing.cersai', results.security),
    registry('aaCashflow', results.accounts),
    ...input.tokens.map(({ sha256, assessed }, index) => tokenRecord(index, sha256, assessed, input)),
    registry('relatedParty.buyer', results.company.buyer),
    registry('relatedParty.borrower', results.company.borrower),
    registry('relatedParty.subcontractor', results.company.subcontractor),
    ...Object.entries(results.group).flatMap(([role, group]) =>
      group?.status === 'OK' ? [registry(`relatedParty.${role}.group`, group)] : [],
    ),
  ]
}

function fromRegistry(key: string, result: RegistryResult<unknown>, policyVersion: string): EvidenceRecord {
  const { source, tier, observedAt, asOf, consent, rawSha256, missingReason, connectorVersion } = result
  return {
    key,
    source,
    tier,
    observedAt,
    asOf,
    consent,
    rawSha256,
    missingReason,
    connectorVersion,
    policyVersion,
    finding: null,
  }
}

function internal(key: string, source: string, tier: EvidenceTier, input: EvidenceInput): EvidenceRecord {
  return {
    key,
    source,
    tier,
    observedAt: input.generatedAt,
    asOf: null,
    consent: null,
    rawSha256: null,
    missingReason: null,
    connectorVersion: null,
    policyVersion: input.policyVersion,
    finding: null,
  }
}

function declared(key: string, input: EvidenceInput): EvidenceRecord {
  return internal(key, 'REQUEST', 'SELF_DECLARED', input)
}

function registryRecord(input: EvidenceInput): EvidenceRecord {
  const key = 'doubleFinancing.registry'
  if (input.findings.status === 'UNAVAILABLE') {
    return { ...internal(key, 'FIRST_FINANCING', 'MISSING', input), missingReason: 'UPSTREAM_ERROR' }
  }
  return internal(key, 'FIRST_FINANCING', 'LENDER_SIDE', input)
}

function tokenRecord(index: number, sha256: string, token: AssessedToken, input: EvidenceInput): EvidenceRecord {
  const { check, returnMatch } = token
  const tier = check.signatureVerified ? 'DOCUMENT_SIGNED' : 'SELF_DECLARED'
  const finding = check.reason ?? returnMatch
  return { ...internal(`eInvoice.tokens[${index}]`, 'E_INVOICE', tier, input), rawSha256: sha256, finding }
}
