export interface Logo {
  type: 'image/png' | 'image/jpeg' | 'image/webp'
  bytes: Buffer
}

export const MAX_LOGO_BYTES = 102_400

/** Reads the first bytes. Refuses SVG, because it may contain scripts and links. */
export function logoType(bytes: Buffer): Logo['type'] | null {
  if (bytes.subarray(0, 8).equals(PNG)) return 'image/png'
  if (bytes.subarray(0, 3).equals(JPEG)) return 'image/jpeg'
  const isWebp = bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
  return isWebp ? 'image/webp' : null
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const JPEG = Buffer.from([0xff, 0xd8, 0xff])
