import { randomBytes } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

/** The private key never leaves its device. */
export interface StoredPasskey {
  userId: number
  credentialId: string
  publicKey: Buffer
  /** signature counter of the authenticator; 0 if it does not count */
  counter: number
  transports: string[]
}

export interface Site {
  name: string
  origin: string
  host: string
}

/** Browsers create no passkeys for IP addresses, and on plain http except localhost. */
export function passkeySite(publicUrl: string, name: string): Site | null {
  const { protocol, hostname, origin } = new URL(publicUrl)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (ipaddr.isValid(hostname.replace(/[[\]]/g, '')) || (protocol !== 'https:' && !isLocal)) return null
  return { name, origin, host: hostname }
}

export function newChallenge(): string {
  return randomBytes(32).toString('base64url')
}

/** Accepted signature algorithms in order of preference: Ed25519, ES256, RS256 (COSE numbers). */
const ALGORITHMS = [-8, -7, -257]
const WAIT_MS = 60_000

/** A discoverable passkey with user verification (WebAuthn 3). */
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

/** Accepts each user (PublicKeyCredentialRequestOptionsJSON). */
export function requestOptions({ host }: Site, challenge: string): object {
  return { rpId: host, challenge, timeout: WAIT_MS, userVerification: 'required' }
}

const bytes = z
  .string()
  .max(20_000)
  .regex(/^[\w-]+$/)
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

/** Verifies nothing; null if the assertion is malformed. */
export function passkeyNamed(text: string): string | null {
  return readAnswer(asserted, text)?.id ?? null
}

export function readAnswer<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null
  } catch {
    return null
  }
}
