import { join } from 'node:path'
import { loadAsset } from '../frame/assets.ts'

/** What risk pages and the verification page need beyond the common style and script. */
export const riskAssets = {
  style: loadAsset(import.meta.dirname, 'risk.css'),
  verify: loadAsset(join(import.meta.dirname, '../public-verification'), 'verify.js'),
} as const
