import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Loaded first by each process: `node --import ./shared/platform/process/load-typescript.mjs`. At its end Node stores the
// compiled code, so that the next start needs neither to strip types nor to compile. This file is JavaScript, because
// stripping types needs 15 MB of memory.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url)))
const { readTypescript } = await import('./typescript-hooks.ts')
readTypescript({ sourceMaps: false })
