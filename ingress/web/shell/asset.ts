import { createHash } from 'node:crypto'
import { parse } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

export interface Asset {
  path: string
  type: string
  content: Buffer
}

/** The address contains a hash of the content, so browsers may cache it without limit. */
export function assetOf(file: string, content: Buffer): Asset {
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
  const { name, ext } = parse(file)
  return { path: `/assets/${name}-${hash}${ext}`, type: TYPES[ext] ?? 'application/octet-stream', content }
}
