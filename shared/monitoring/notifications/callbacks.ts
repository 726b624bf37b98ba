const MAX_ERROR_LENGTH = 200
const UNDELIVERED = ['failed', 'undelivered']

/** Own gateways and Twilio differ (docs/spec/monitoring.md#other-endpoints). Null without a failure. */
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

function textOf(value: string | null): string {
  return [...(value ?? '').replaceAll('\0', '').toWellFormed()].slice(0, MAX_ERROR_LENGTH).join('')
}

export const GATEWAY_KINDS: readonly string[] = ['sms', 'whatsapp', 'call']

export function signedOfCallback(notificationId: string): string {
  return `callback:${notificationId}`
}

/** Signed, because the id is part of every message. `digest` is of `signedOfCallback`. */
export function callbackPath(notificationId: string, digest: Buffer): string {
  const signature = digest.subarray(0, SIGNATURE_BYTES).toString('hex')
  return `/api/v3/notifications/${notificationId}/status?signature=${signature}`
}

export function signedOfBounce(notificationId: string): string {
  return `bounce:${notificationId}`
}

/** Signatures are truncated to 112 bits, so that the local part has at most 64 characters. */
const SIGNATURE_BYTES = 14

/** Bounces are sent to this envelope sender. `digest` is of `signedOfBounce`. */
export function bounceAddress(notificationId: string, digest: Buffer, domain: string): string {
  return `n${notificationId.replaceAll('-', '')}-${digest.subarray(0, SIGNATURE_BYTES).toString('hex')}@${domain}`
}

export function readBounceAddress(recipient: string): { notificationId: string; signature: Buffer } | null {
  const [, id, signature] = ADDRESS.exec(recipient.toLowerCase()) ?? []
  if (id === undefined || signature === undefined) return null
  const notificationId = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  return { notificationId, signature: Buffer.from(signature, 'hex') }
}

const ADDRESS = /\bn([0-9a-f]{32})-([0-9a-f]{28})@/

export function isSigned(signature: Buffer, digests: readonly Buffer[]): boolean {
  return digests.some((digest) => digest.subarray(0, SIGNATURE_BYTES).equals(signature))
}

/** About the message, its sender or the route. Of 5.7.x, only 13, 17 and 18 are about the recipient. */
const NOT_THE_RECIPIENT = /^5\.(1\.[78]|2\.3|3\.4|4\.4|6\..*|7\.(?!(?:13|17|18)$).*)$/

/** RFC 3463: 5.x disables the integration, except for the statuses above. Returns null without a failure. */
export function failureOfStatus(status: string): { error: string; disables: boolean } | null {
  if (!/^[45]\./.test(status)) return null
  return { error: failedWith(status), disables: status.startsWith('5.') && !NOT_THE_RECIPIENT.test(status) }
}
