import { type FinancingKeys, type Fingerprint, receivableFingerprints, soughtFingerprints } from './fingerprint.ts'
import { identityOf } from './receivable.ts'
import { isBlind, type ReceivableInput, type RequestFingerprints } from './request-fingerprints.ts'

/** What it is looked for by. @param window asks the weeks and sizes around fields too */
export function soughtOf(keys: FinancingKeys, given: ReceivableInput, window: boolean): Fingerprint[] {
  return isBlind(given) ? byKind(given.fingerprints) : soughtFingerprints(keys, identityOf(given), window)
}

/** What the registry stores of it; the newest epoch's first. */
export function allFingerprints(keys: FinancingKeys, given: ReceivableInput): Fingerprint[] {
  return isBlind(given) ? byKind(given.fingerprints) : receivableFingerprints(keys, identityOf(given))
}

function byKind(given: RequestFingerprints): Fingerprint[] {
  return given
    .toSorted((a, b) => b.epoch - a.epoch)
    .flatMap(({ epoch, rf1, rf2, rf3 }) => [
      { epoch, kind: 'RF1' as const, value: rf1 },
      { epoch, kind: 'RF2' as const, value: rf2 },
      { epoch, kind: 'RF3' as const, value: rf3 },
    ])
}
