import { type FinancingKeys, type Fingerprint, receivableFingerprints, searchFingerprints } from './fingerprint.ts'
import { identityOf } from './receivable.ts'
import { isBlind, type ReceivableInput, type RequestFingerprints } from './request-fingerprints.ts'

/** `window` adds the neighbouring weeks and amounts if the fields are known. */
export function searchTerms(keys: FinancingKeys, input: ReceivableInput, window: boolean): Fingerprint[] {
  return isBlind(input) ? byKind(input.fingerprints) : searchFingerprints(keys, identityOf(input), window)
}

export function allFingerprints(keys: FinancingKeys, input: ReceivableInput): Fingerprint[] {
  return isBlind(input) ? byKind(input.fingerprints) : receivableFingerprints(keys, identityOf(input))
}

function byKind(input: RequestFingerprints): Fingerprint[] {
  return input
    .toSorted((a, b) => b.epoch - a.epoch)
    .flatMap(({ epoch, rf1, rf2, rf3 }) => [
      { epoch, kind: 'RF1' as const, value: rf1 },
      { epoch, kind: 'RF2' as const, value: rf2 },
      { epoch, kind: 'RF3' as const, value: rf3 },
    ])
}
