import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Asset, assetOf } from '../shell/asset.ts'
import { loadAsset } from '../shell/assets.ts'

const VERIFICATION = join(import.meta.dirname, '../public-verification')

/** Replaces the file names in imports by the names with hashes, relative to the script. */
function loadModule(name: string, imports: readonly Asset[]): Asset {
  let text = readFileSync(join(VERIFICATION, `${name}.js`), 'utf8')
  for (const { path } of imports) {
    const served = basename(path)
    text = text.replace(`'./${served.replace(/-[0-9a-f]{12}/, '')}'`, `'./${served}'`)
  }
  return assetOf(`${name}.js`, Buffer.from(text))
}

const proof = loadModule('verify-proof', [])
const report = loadModule('verify-report', [proof])
const log = loadModule('verify-log', [proof, report])
const uptime = loadModule('verify-uptime', [proof, report, log])
const bundle = loadModule('verify-bundle', [proof, report, log])

const file = loadModule('verify-file', [proof, report, log, uptime, bundle])
const zip = loadModule('verify-zip', [])
const bagit = loadModule('verify-package', [proof, report, file, zip])

/** The modules of the verification page, each after those that it imports. */
export const verificationModules: readonly Asset[] = [
  ...[proof, report, log, uptime, bundle, file, zip, bagit],
  loadModule('verify', [report, log, file, zip, bagit]),
]

export const riskAssets = {
  style: loadAsset(import.meta.dirname, 'risk.css'),
  upload: loadAsset(import.meta.dirname, 'upload-import.js'),
  hash: loadAsset(import.meta.dirname, 'hash-file.js'),
} as const
