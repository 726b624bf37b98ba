import { setSourceMapsSupport } from 'node:module'
import { readTypescript } from '#shared/platform/process/typescript-hooks.ts'

// Test processes load this before anything else (`nodeArguments` in ava.config.js).

// AVA has Node read source maps; those of packages, a tenth of the start time, are never used.
setSourceMapsSupport(true, { nodeModules: false, generatedCode: false })
readTypescript({ sourceMaps: true })
