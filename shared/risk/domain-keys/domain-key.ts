/** CURRENT and PREVIOUS keys name new objects; every key finds its objects. */
export interface DomainKey {
  epoch: number
  state: 'CURRENT' | 'PREVIOUS' | 'RETIRED'
  key: Buffer
  /** null for a symmetric key */
  publicKey: Buffer | null
}
