import { Router } from 'express'
import type { IngressDeps } from '../deps.ts'

/** The pages for people; not part of the API document. */
export function createWebRouter(_deps: IngressDeps): Router {
  return Router({ caseSensitive: true, strict: true })
}
