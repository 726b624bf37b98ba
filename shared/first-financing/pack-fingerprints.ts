import { parsePaise } from '../packs/money.ts'
import type { PackRequest } from '../packs/request.ts'
import type { TokenVerdict } from '../packs/signals/e-invoice-token.ts'
import { orderFingerprint, type ReceivableFingerprints, receivableFingerprints } from './fingerprint.ts'

/** What a pack request is matched by in the first-financing registry. */
export interface PackFingerprints {
  /** Null without a purchase-order number: the parties and a value alone identify no order. */
  po1: string | null
  receivables: ReceivableFingerprints[]
}

/**
 * The fingerprints of a pack request: its numbered order, and the e-invoices it brought that passed every check. Demo
 * tokens are not passed in here: they identify nobody's receivable.
 */
export function packFingerprints(
  secretKey: Uint8Array,
  request: PackRequest,
  verdicts: readonly TokenVerdict[],
): PackFingerprints {
  const { poNumber, poValue } = request
  const poValuePaise = parsePaise(poValue)
  const isNumbered = poNumber !== undefined && poValuePaise !== undefined
  const po1 = isNumbered ? orderFingerprint(secretKey, { ...request, poNumber, poValuePaise }).po1 : null
  const receivables = verdicts.flatMap(({ reason, document }) => {
    if (reason !== null || !document || document.totalPaise === null) return []
    const { sellerGstin: supplierGstin, totalPaise, ...rest } = document
    return [receivableFingerprints(secretKey, { ...rest, supplierGstin, totalPaise })]
  })
  return { po1, receivables }
}
