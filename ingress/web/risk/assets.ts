import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Router } from 'express'

function load(folder: string, name: string, type: string) {
  const content = readFileSync(join(import.meta.dirname, folder, name))
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
  return { path: `/assets/${name.replace('.', `-${hash}.`)}`, type, content }
}

/** What risk pages and the verification page need beyond the common style and script. */
export const riskAssets = {
  style: load('.', 'risk.css', 'text/css; charset=utf-8'),
  verify: load('../public-verification', 'verify.js', 'text/javascript; charset=utf-8'),
} as const

/** Serves them; their addresses hold a hash of their content, so browsers keep them for good. */
export function createRiskAssetRouter(): Router {
  const router = Router({ caseSensitive: true, strict: true })
  for (const { path, type, content } of Object.values(riskAssets)) {
    router.get(path, (_request, response) => {
      response
        .set({
          'Content-Type': type,
          'Cache-Control': 'public, max-age=31536000, immutable',
          'X-Content-Type-Options': 'nosniff',
        })
        .end(content)
    })
  }
  return router
}
