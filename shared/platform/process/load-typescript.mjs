import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Processes of the product load this first: `node --import ./shared/platform/process/load-typescript.mjs`. Node stores
// what it compiled when the process ends, and the next start needs neither to strip types nor to compile. This file is
// JavaScript, because the tool that strips types takes 15 MB.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url)))
const { readTypescript } = await import('./typescript-hooks.ts')
readTypescript({ sourceMaps: false })
