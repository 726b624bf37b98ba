import { jwksRoute, metadataRoute } from '../oauth/metadata.ts'
import { tokenRoute } from '../oauth/token.ts'
import type { Route } from '../route.ts'
import { listPacksRoute, readEvidenceRoute, readPackRoute } from './packs/read-packs.ts'
import { requestPackRoute } from './packs/request-pack.ts'
import { usageRoute } from './usage.ts'

/** Every operation under `/v1`. */
export const platformRoutes: readonly Route[] = [
  tokenRoute,
  jwksRoute,
  metadataRoute,
  requestPackRoute,
  listPacksRoute,
  readPackRoute,
  readEvidenceRoute,
  usageRoute,
]
