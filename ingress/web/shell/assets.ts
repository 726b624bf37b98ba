import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Router } from 'express'
import { type Asset, assetOf } from './asset.ts'
import { acceptsGzip, compressedOnce } from './compress.ts'
import { fonts, iconRules, icons } from './icon-rules.ts'

/** A file beside the code. */
export function loadAsset(folder: string, file: string): Asset {
  return assetOf(file, readFileSync(join(folder, file)))
}

/** The common style, in the order in which its parts build on each other. */
function loadStyle(): Asset {
  const parts = STYLES.map((name) => readFileSync(join(FOLDER, 'css', `${name}.css`), 'utf8'))
  const rules = parts.join('\n').replace(/\/\*.*?\*\/\n?/gs, '')
  return assetOf('style.css', Buffer.from(`${iconRules()}\n${rules}`))
}

const STYLES = [
  'tokens',
  'base',
  'frame',
  'blocks',
  'controls',
  'status',
  'check',
  'projects',
  'messages',
  'filters',
  'list',
  'wall',
  'design',
  'docs',
  'narrow',
]
const FOLDER = join(import.meta.dirname, 'assets')

/** The files that pages refer to. */
export const assets = {
  style: loadStyle(),
  script: loadAsset(FOLDER, 'app.js'),
  live: loadAsset(FOLDER, 'live.js'),
  list: loadAsset(FOLDER, 'list.js'),
  check: loadAsset(FOLDER, 'check.js'),
  passkey: loadAsset(FOLDER, 'passkey.js'),
  icon: loadAsset(FOLDER, 'icon.svg'),
  iconDown: loadAsset(FOLDER, 'icon-down.svg'),
} as const

/** Serves the common files, and those of `more`. */
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
          'X-Content-Type-Options': 'nosniff',
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
