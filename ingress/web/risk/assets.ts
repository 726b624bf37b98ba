import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { assetOf } from '../shell/asset.ts'
import { loadAsset } from '../shell/assets.ts'

const VERIFICATION = join(import.meta.dirname, '../public-verification')

export const riskAssets = {
  style: loadAsset(import.meta.dirname, 'risk.css'),
  upload: loadAsset(import.meta.dirname, 'upload-import.js'),
  /** one module, because its second part uses declarations of the first */
  verify: assetOf(
    'verify.js',
    Buffer.concat(['verify.js', 'verify-uptime.js'].map((file) => readFileSync(join(VERIFICATION, file)))),
  ),
} as const
