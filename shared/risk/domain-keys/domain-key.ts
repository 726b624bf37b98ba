/** A key of one epoch. New things are named by the CURRENT one; the PREVIOUS ones find what they named. */
export interface DomainKey {
  epoch: number
  state: 'CURRENT' | 'PREVIOUS'
  key: Buffer
  /** for proofs of what was made with it; null where there are none */
  publicKey: Buffer | null
}
