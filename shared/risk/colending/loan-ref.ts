import { createHmac, type KeyObject } from 'node:crypto'

/**
 * What stands for a partner's loan reference: loan numbers are short and would be found by trying, so the hash is keyed,
 * and differs between organisations. 32 bytes.
 */
export function loanRefHash(key: Buffer | KeyObject, organisationId: number, loanRef: string): Buffer {
  return createHmac('sha256', key).update(`${organisationId}\u001f${loanRef}`, 'utf8').digest()
}
