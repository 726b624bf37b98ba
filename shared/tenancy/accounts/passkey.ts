import { randomBytes } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** A passkey as it is kept; the private half never leaves its device. */
export interface StoredPasskey {
  userId: number
  credentialId: string
  publicKey: Buffer
  /** of uses, as the device counts them; 0 where it does not */
  counter: number
  transports: string[]
}

/** Whom passkeys are made for: they work on this host alone. */
export interface Site {
  name: string
  /** such as `https://signals.example` */
  origin: string
  host: string
}

/**
 * Returns null where browsers make no passkeys: on addresses that are no names, and on plain http but for localhost.
 */
export function passkeySite(publicUrl: string, name: string): Site | null {
  const { protocol, hostname, origin } = new URL(publicUrl)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (ipaddr.isValid(hostname.replace(/[[\]]/g, '')) || (protocol !== 'https:' && !isLocal)) return null
  return { name, origin, host: hostname }
}

/** 256 random bits, which one answer alone may carry. */
export function newChallenge(): string {
  return randomBytes(32).toString('base64url')
}

/** Signatures that are taken, the better ones first: Ed25519, ES256, RS256 (COSE numbers). */
const ALGORITHMS = [-8, -7, -257]
const WAIT_MS = 60_000

/**
 * What a browser is told before it makes a passkey (WebAuthn 3, PublicKeyCredentialCreationOptionsJSON): one that names
 * its owner by itself and asks for a PIN or finger.
 */
export function creationOptions(
  { name, host }: Site,
  person: { uuid: string; email: string; name: string },
  challenge: string,
  known: readonly string[],
): object {
  const user = Buffer.from(person.uuid).toString('base64url')
  return {
    rp: { name, id: host },
    user: { id: user, name: person.email, displayName: person.name || person.email },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ alg, type: 'public-key' })),
    timeout: WAIT_MS,
    attestation: 'none',
    excludeCredentials: known.map((id) => ({ id, type: 'public-key' })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
  }
}

/** What a browser is told before it signs somebody in, whoever it is (PublicKeyCredentialRequestOptionsJSON). */
export function requestOptions({ host }: Site, challenge: string): object {
  return { rpId: host, challenge, timeout: WAIT_MS, userVerification: 'required' }
}

/** Bytes of a WebAuthn message, in base64url. */
const bytes = z
  .string()
  .max(20_000)
  .regex(/^[\w-]+$/)
/** What a browser sends after it made a passkey. */
export const created = z.object({
  id: bytes,
  rawId: bytes,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}).default({}),
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z.array(z.enum(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])).optional(),
  }),
})
/** What a browser sends to sign in. */
export const asserted = z.object({
  id: bytes,
  rawId: bytes,
  type: z.literal('public-key'),
  clientExtensionResults: z.object({}).default({}),
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: bytes.optional(),
  }),
})

/** Which passkey an answer says it is of; null for what is no answer. Nothing of it is verified. */
export function passkeyNamed(text: string): string | null {
  return readAnswer(asserted, text)?.id ?? null
}

/** A browser's answer; null when it is none. */
export function readAnswer<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
