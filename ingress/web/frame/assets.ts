import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import { Router } from 'express'

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

interface Asset {
  path: string
  type: string
  content: Buffer
}

/** A file beside the code. Its address holds a hash of its content, so browsers keep it for good. */
export function loadAsset(folder: string, file: string): Asset {
  const content = readFileSync(join(folder, file))
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
  const { name, ext } = parse(file)
  return { path: `/assets/${name}-${hash}${ext}`, type: TYPES[ext] ?? 'application/octet-stream', content }
}

const FOLDER = join(import.meta.dirname, 'assets')

/** The files that pages refer to. */
export const assets = {
  style: loadAsset(FOLDER, 'app.css'),
  script: loadAsset(FOLDER, 'app.js'),
  live: loadAsset(FOLDER, 'live.js'),
  icon: loadAsset(FOLDER, 'icon.svg'),
  iconDown: loadAsset(FOLDER, 'icon-down.svg'),
} as const

/** Serves the common files, and those of `more`. */
export function createAssetRouter(more: readonly Asset[]): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const { path, type, content } of [...Object.values(assets), ...more]) {
    router.get(path, (_request, response) => {
      response
        .set({
          'Content-Type': type,
          'Cache-Control': 'public, max-age=31536000, immutable',
          'X-Content-Type-Options': 'nosniff',
          'Content-Security-Policy': `default-src 'none'; style-src 'unsafe-inline'`,
        })
        .end(content)
    })
  }
  router.get('/favicon.ico', (_request, response) => response.redirect(301, assets.icon.path))
  router.get('/robots.txt', (_request, response) => response.type('text/plain').end('User-agent: *\nDisallow: /\n'))
  return router
}
