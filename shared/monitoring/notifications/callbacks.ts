const MAX_ERROR_LENGTH = 200
const UNDELIVERED = ['failed', 'undelivered']

/**
 * Reads the callback of a provider about a message (docs/spec/monitoring.md#other-endpoints): our own gateways send `error` and perhaps
 * `mark_disabled`, the SMS gateway `MessageStatus` or `CallStatus`.
 * @returns null when it tells of no failure
 */
export function failureOfForm(form: URLSearchParams): { error: string; disables: boolean } | null {
  const error = textOf(form.get('error'))
  if (error !== '') return { error, disables: form.has('mark_disabled') }
  const message = form.get('MessageStatus') ?? ''
  if (UNDELIVERED.includes(message)) return { error: failedWith(message), disables: false }
  if (form.get('CallStatus') === 'failed') return { error: failedWith('failed'), disables: false }
  return null
}

function failedWith(status: string): string {
  return `Delivery failed (status=${status}).`
}

function textOf(given: string | null): string {
  return [...(given ?? '').replaceAll('\0', '').toWellFormed()].slice(0, MAX_ERROR_LENGTH).join('')
}

/** Kinds whose gateway may report what became of a message. */
export const GATEWAY_KINDS: readonly string[] = ['sms', 'whatsapp', 'call']

/** The text that the signature in the address of a gateway's report is of. */
export function signedOfCallback(notificationId: string): string {
  return `callback:${notificationId}`
}

/**
 * Returns the path to which a gateway reports about a message. The id alone is in every message, so it is signed.
 * @param digest of `signedOfCallback`
 */
export function callbackPath(notificationId: string, digest: Buffer): string {
  const signature = digest.subarray(0, SIGNATURE_BYTES).toString('hex')
  return `/api/v3/notifications/${notificationId}/status?signature=${signature}`
}

/** What the signature in the envelope sender of a mail is of. */
export function signedOfBounce(notificationId: string): string {
  return `bounce:${notificationId}`
}

/** Bytes of a digest that are a signature: 112 bits, so that the part before the @ has at most 64 characters. */
const SIGNATURE_BYTES = 14

/**
 * The envelope sender of a mail: it comes back as the recipient of the mail that says that it could not be delivered.
 * @param digest of `signedOfBounce`
 */
export function bounceAddress(notificationId: string, digest: Buffer, domain: string): string {
  return `n${notificationId.replaceAll('-', '')}-${digest.subarray(0, SIGNATURE_BYTES).toString('hex')}@${domain}`
}

/** @returns the notification that an envelope sender names, and its signature; null for another address */
export function readBounceAddress(recipient: string): { notificationId: string; signature: Buffer } | null {
  const [, id, signature] = ADDRESS.exec(recipient.toLowerCase()) ?? []
  if (id === undefined || signature === undefined) return null
  const notificationId = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { notificationId, signature: Buffer.from(signature, 'hex') }
}

const ADDRESS = /\bn([0-9a-f]{32})-([0-9a-f]{28})@/

/** @param signature as it came with a bounce or a report @param digests under every key that may have signed */
export function isSigned(signature: Buffer, digests: readonly Buffer[]): boolean {
  return digests.some((digest) => digest.subarray(0, SIGNATURE_BYTES).equals(signature))
}

/**
 * Statuses about one message (too long, its content, a policy against it), its sender or the route: other messages may
 * arrive. Of 5.7.x, three are about the recipient: 13 the account is disabled, 17 and 18 its owner has changed.
 */
const NOT_THE_RECIPIENT = /^5\.(1\.[78]|2\.3|3\.4|4\.4|6\..*|7\.(?!(?:13|17|18)$).*)$/

/**
 * Reads a delivery status (RFC 3463). 5.x means that the recipient is gone, except for the statuses above.
 * @returns null when nothing failed
 */
export function failureOfStatus(status: string): { error: string; disables: boolean } | null {
  if (!/^[45]\./.test(status)) return null
  return { error: failedWith(status), disables: status.startsWith('5.') && !NOT_THE_RECIPIENT.test(status) }
}
