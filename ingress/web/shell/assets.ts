import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { constants, gzip, gzipSync } from 'node:zlib'
import { type Request, type Response, Router } from 'express'
import { type Asset, assetOf } from './asset.ts'
import { fonts, iconRules, icons } from './icon-rules.ts'

export function loadAsset(folder: string, file: string): Asset {
  return assetOf(file, readFileSync(join(folder, file)))
}

function loadStyle(): Asset {
  return assetOf('style.css', Buffer.from(`${iconRules()}\n${cssOf(STYLES)}`))
}

/** The order matters: later parts override earlier ones. */
function cssOf(names: readonly string[]): string {
  const parts = names.map((name) => readFileSync(join(FOLDER, 'css', `${name}.css`), 'utf8'))
  return parts.join('\n').replace(/\/\*.*?\*\/\n?/gs, '')
}

const STYLES = [
  'tokens',
  'base',
  'frame',
  'blocks',
  'controls',
  'status',
  'check',
  'on-call',
  'projects',
  'messages',
  'filters',
  'list',
  'wall',
  'incidents',
  'design',
  'docs',
  'narrow',
]
const FOLDER = join(import.meta.dirname, 'assets')

export const assets = {
  style: loadStyle(),
  phone: assetOf('phone.css', Buffer.from(cssOf(['tokens', 'phone']))),
  script: loadAsset(FOLDER, 'app.js'),
  live: loadAsset(FOLDER, 'live.js'),
  list: loadAsset(FOLDER, 'list.js'),
  check: loadAsset(FOLDER, 'check.js'),
  passkey: loadAsset(FOLDER, 'passkey.js'),
  icon: loadAsset(FOLDER, 'icon.svg'),
  iconDown: loadAsset(FOLDER, 'icon-down.svg'),
} as const

export function createAssetRouter(more: readonly Asset[]): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const { path, type, content } of [...Object.values(assets), ...fonts, icons, ...more]) {
    const compressed = compressedOnce(content)
    router.get(path, (request, response) => {
      const isCompressed = compressed !== undefined && acceptsGzip(request)
      if (isCompressed) response.set('Content-Encoding', 'gzip')
      response
        .set({
          'Content-Type': type,
          'Cache-Control': 'public, max-age=31536000, immutable',
          'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'`,
        })
        .vary('Accept-Encoding')
        .end(isCompressed ? compressed : content)
    })
  }
  router.get('/favicon.ico', (_request, response) => response.redirect(301, assets.icon.path))
  router.get('/robots.txt', (_request, response) => response.type('text/plain').end('User-agent: *\nDisallow: /\n'))
  return router
}

/** A shorter response fits into one packet uncompressed. */
const MIN_BYTES = 1_400
/** Compresses 200 kB in about 2 ms; a higher level saves only a twentieth of the size. */
const LEVEL = 4

/**
 * Sends a page, compressed if the browser accepts that. Each page masks its form tokens differently (csrf.ts), so that
 * the compressed length reveals nothing to a client that can inject text.
 */
export function endCompressed(request: Request, response: Response, text: string): void {
  const bytes = Buffer.from(text)
  response.vary('Accept-Encoding')
  if (bytes.length < MIN_BYTES || !acceptsGzip(request)) {
    response.end(bytes)
    return
  }
  response.set('Content-Encoding', 'gzip').end(gzipSync(bytes, { level: LEVEL }))
}

export interface CompressedText {
  plain: Buffer
  gzip: Buffer
}

const compress = promisify(gzip)

/** Compresses in the thread pool of Node. */
export async function compressedText(text: string): Promise<CompressedText> {
  const plain = Buffer.from(text)
  return { plain, gzip: await compress(plain, { level: LEVEL }) }
}

export function sendCompressed(request: Request, response: Response, { plain, gzip }: CompressedText): void {
  response.vary('Accept-Encoding')
  if (acceptsGzip(request)) response.set('Content-Encoding', 'gzip').end(gzip)
  else response.end(plain)
}

function acceptsGzip(request: Request): boolean {
  return request.acceptsEncodings('gzip') === 'gzip'
}

/** Uses the best level, because the result is sent often. @returns undefined if it is not smaller, as with fonts */
function compressedOnce(content: Buffer): Buffer | undefined {
  const compressed = gzipSync(content, { level: constants.Z_BEST_COMPRESSION })
  return compressed.length < content.length * 0.9 ? compressed : undefined
}
