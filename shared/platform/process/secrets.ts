import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** What a sealed value is for. It is part of what is authenticated: put in another's place, a value does not open. */
export type SealPurpose =
  | 'acceptance'
  | 'cursor'
  | 'domain-key'
  | 'entity'
  | 'evidence-request'
  | 'financing'
  | 'flash'
  | 'import-chunk'
  | 'identity'
  | 'integration'
  | 'invoice-key'
  | 'kept-answer'
  | 'lms-secret'
  | 'log-key'
  | 'mail'
  | 'pack-request'
  | 'passkey'
  | 'ping-key'
  | 'ping-secret'
  | 'presentation'
  | 'pool'
  | 'recent-password'
  | 'second-factor'
  | 'second-step'
  | 'sign-in'
  | 'token-key'
  | 'trade'
  | 'webhook-secret'

/** What is done with SECRET_KEY: each use has a key of its own, derived from it. */
export interface Secrets {
  /** Keyed digest of an API key, token or link: what is stored instead of it, 32 bytes. */
  digest(text: string): Buffer
  /** The digests under which it may be stored: the present key's, and the one's before the last rotation. */
  digests(text: string): Buffer[]
  /** AES-256-GCM; the result is text, versioned, and different each time. */
  seal(purpose: SealPurpose, plain: string): string
  /** @throws Error when it was sealed under another key or for another purpose, or changed */
  open(purpose: SealPurpose, sealed: string): string
  /** The same for bytes, which stay bytes. */
  sealBytes(purpose: SealPurpose, plain: Buffer): Buffer
  /** @throws Error as `open` */
  decryptBytes(purpose: SealPurpose, sealed: Buffer): Buffer
  /** The same sealed under the present key; null when it is already. @throws Error as `open` */
  reseal(purpose: SealPurpose, sealed: string): string | null
  /** A key for one named purpose, 32 bytes: badge signatures, session cookies, fingerprints. */
  derive(purpose: string): Buffer
}

/** Prefix of a sealed text: the format of what follows (docs/adr/0013). */
const FORMAT = 'v2'

export function createSecrets(secretKey: string, previousKey?: string): Secrets {
  const keys = [secretKey, ...(previousKey === undefined ? [] : [previousKey])]
  const digestKeys = keys.map((key) => deriveKey(key, 'digest'))
  const sealKeys = keys.map((key) => deriveKey(key, 'seal'))
  const [digestKey] = digestKeys
  const [sealKey] = sealKeys
  if (!digestKey || !sealKey) throw new Error('no secret key')

  const seal = (purpose: SealPurpose, plain: string): string =>
    `${FORMAT}.${encrypt(sealKey, Buffer.from(plain, 'utf8'), Buffer.from(purpose)).toString('base64url')}`
  /** What is sealed, and the place of its key among ours. */
  const opened = (purpose: SealPurpose, sealed: string): { plain: string; place: number } => {
    const [format, data] = sealed.split('.')
    if (format !== FORMAT || data === undefined) throw new Error('not a sealed value')
    const bytes = Buffer.from(data, 'base64url')
    // Only the canonical spelling, so that a sealed link or cookie has one text.
    if (bytes.toString('base64url') !== data) throw new Error('not a sealed value')
    for (const [place, key] of sealKeys.entries()) {
      const plain = decrypt(key, bytes, Buffer.from(purpose))
      if (plain !== null) return { plain: plain.toString('utf8'), place }
    }
    throw new Error('sealed under another key, or for another purpose')
  }

  return {
    digest: (text) => hmac(digestKey, text),
    digests: (text) => digestKeys.map((key) => hmac(key, text)),
    seal,
    open: (purpose, sealed) => opened(purpose, sealed).plain,
    sealBytes: (purpose, plain) => encrypt(sealKey, plain, Buffer.from(purpose)),
    decryptBytes(purpose, sealed) {
      for (const key of sealKeys) {
        const plain = decrypt(key, sealed, Buffer.from(purpose))
        if (plain !== null) return plain
      }
      throw new Error('sealed under another key, or for another purpose')
    },
    reseal(purpose, sealed) {
      const { plain, place } = opened(purpose, sealed)
      return place === 0 ? null : seal(purpose, plain)
    },
    derive: (purpose) => deriveKey(secretKey, purpose),
  }
}

/** Compares in constant time; texts of different length are different. */
export function equalSecrets(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}

function deriveKey(secretKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, 'signalbox', purpose, 32))
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest()
}

function encrypt(key: Buffer, plain: Buffer, aad: Buffer): Buffer {
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  cipher.setAAD(aad)
  const sealed = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

function decrypt(key: Buffer, bytes: Buffer, aad: Buffer): Buffer | null {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
    decipher.setAAD(aad)
    decipher.setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
  } catch {
    return null
  }
}
