/**
 * A key of one epoch. New things are named by the CURRENT one, and where callers name them too by the PREVIOUS one until
 * it is RETIRED; every key finds what it named.
 */
export interface DomainKey {
  epoch: number
  state: 'CURRENT' | 'PREVIOUS' | 'RETIRED'
  key: Buffer
  /** for proofs of what was made with it; null where there are none */
  publicKey: Buffer | null
}
