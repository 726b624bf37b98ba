import { createHmac } from 'node:crypto'
import type { DomainKey } from '../domain-keys/domain-key.ts'
import {
  type OrderIdentity,
  po1Input,
  type ReceivableIdentity,
  rf1Input,
  rf2Input,
  rf3Input,
  rf4Input,
  rf4WindowInputs,
} from './fingerprint-input.ts'
import { evaluateOprf } from './oprf.ts'

/** RF1 and PO1 are exact and unique among live records; the others, also PO2, are possible matches. */
export type FingerprintKind = 'RF1' | 'RF2' | 'RF3' | 'RF4' | 'PO1' | 'PO2'

/** 32 bytes in hex, under the key of its epoch. */
export interface Fingerprint {
  epoch: number
  kind: FingerprintKind
  value: string
}

/** Receivables have a key per epoch, newest first. */
export interface FinancingKeys {
  order: Buffer
  epochs: readonly DomainKey[]
}

const HMAC_EPOCH = 1

/** A plain hash could be guessed. */
export function fingerprint(secretKey: Uint8Array, input: string): string {
  return createHmac('sha256', secretKey).update(input, 'utf8').digest('hex')
}

/** See docs/spec/evidence-families.md#receivables-and-fingerprints. */
function fingerprintOf({ epoch, key }: Pick<DomainKey, 'epoch' | 'key'>, input: string): string {
  if (epoch === HMAC_EPOCH) return fingerprint(key, input)
  return evaluateOprf(key, Buffer.from(input, 'utf8')).subarray(0, 32).toString('hex')
}

export function liveEpochs(keys: FinancingKeys): DomainKey[] {
  return keys.epochs.filter(({ epoch, state }) => state !== 'RETIRED' && epoch !== HMAC_EPOCH)
}

export function receivableFingerprints(keys: FinancingKeys, receivable: ReceivableIdentity): Fingerprint[] {
  return liveEpochs(keys).flatMap((epoch) => [
    ...exactAndNear(epoch, receivable),
    { epoch: epoch.epoch, kind: 'RF4' as const, value: fingerprintOf(epoch, rf4Input(receivable)) },
  ])
}

/** Uses the keys of all epochs. `window` adds neighbouring values. */
export function searchFingerprints(
  keys: FinancingKeys,
  receivable: ReceivableIdentity,
  window: boolean,
): Fingerprint[] {
  return keys.epochs.flatMap((epoch) => [
    ...exactAndNear(epoch, receivable),
    ...(window && epoch.epoch !== HMAC_EPOCH
      ? rf4WindowInputs(receivable).map((input) => ({
          epoch: epoch.epoch,
          kind: 'RF4' as const,
          value: fingerprintOf(epoch, input),
        }))
      : []),
  ])
}

function exactAndNear(epoch: DomainKey, receivable: ReceivableIdentity): Fingerprint[] {
  return [
    { epoch: epoch.epoch, kind: 'RF1', value: fingerprintOf(epoch, rf1Input(receivable)) },
    { epoch: epoch.epoch, kind: 'RF2', value: fingerprintOf(epoch, rf2Input(receivable)) },
    { epoch: epoch.epoch, kind: 'RF3', value: fingerprintOf(epoch, rf3Input(receivable)) },
  ]
}

/** Purchase orders always use the HMAC. */
export function orderFingerprint(keys: FinancingKeys, order: OrderIdentity): Fingerprint {
  const { input, isExact } = po1Input(order)
  return { epoch: HMAC_EPOCH, kind: isExact ? 'PO1' : 'PO2', value: fingerprint(keys.order, input) }
}
