import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

/** The purpose is authenticated, so a value that is copied to another place cannot be decrypted. */
export type SealPurpose =
  | 'acceptance'
  | 'contact'
  | 'cursor'
  | 'domain-key'
  | 'entity'
  | 'evidence-request'
  | 'financing'
  | 'flash'
  | 'import-chunk'
  | 'import-plan'
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

export interface Secrets {
  /** Keyed digest (32 bytes) that is stored instead of an API key, token or link. */
  digest(text: string): Buffer
  /** The digests that may be stored: with the current key, and with the key before the last rotation. */
  digests(text: string): Buffer[]
  /** Encrypts with AES-256-GCM; the result is versioned text that differs each time. */
  seal(purpose: SealPurpose, plain: string): string
  /** Throws Error if it was sealed with another key or purpose, or was changed. */
  open(purpose: SealPurpose, sealed: string): string
  sealBytes(purpose: SealPurpose, plain: Buffer): Buffer
  decryptBytes(purpose: SealPurpose, sealed: Buffer): Buffer
  /** Returns null if the value already uses the current key. Throws as `open`. */
  reseal(purpose: SealPurpose, sealed: string): string | null
  /** Derives a 32-byte key for one purpose: badge signatures, session cookies, fingerprints. */
  derive(purpose: string): Buffer
}

/** Prefix of a sealed text that identifies its format (docs/adr/0013). */
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
  /** `place` is the index of its key. */
  const opened = (purpose: SealPurpose, sealed: string): { plain: string; place: number } => {
    const [format, data] = sealed.split('.')
    if (format !== FORMAT || data === undefined) throw new Error('not a sealed value')
    const bytes = Buffer.from(data, 'base64url')
    // Accepts only the canonical encoding, so that a sealed link or cookie has a unique text.
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
