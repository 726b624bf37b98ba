import { z } from 'zod'
import { baseUrl, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const opsgenie = defineKind({
  kind: 'opsgenie',
  label: 'Opsgenie',
  schema: z.strictObject({ key: token(100), region: z.enum(['us', 'eu']).default('us'), base_url: baseUrl.optional() }),
  secretFields: ['key'],
  help: [
    'key       API key of the integration (secret)',
    'region    us or eu (us)',
    'base_url  server, in place of the one of the region',
  ],
  targetsOf: (config) => (config.base_url ? [config.base_url] : []),
})
