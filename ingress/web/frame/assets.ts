import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Router } from 'express'

const TYPES = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' } as const

function load(name: string, type: keyof typeof TYPES) {
  const content = readFileSync(join(import.meta.dirname, 'assets', `${name}.${type}`))
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
  return { path: `/assets/${name}-${hash}.${type}`, type: TYPES[type], content }
}

/** The files that pages refer to. Their addresses hold a hash of their content, so browsers keep them for good. */
export const assets = {
  style: load('app', 'css'),
  script: load('app', 'js'),
  icon: load('icon', 'svg'),
  iconDown: load('icon-down', 'svg'),
} as const

export function createAssetRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const { path, type, content } of Object.values(assets)) {
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
