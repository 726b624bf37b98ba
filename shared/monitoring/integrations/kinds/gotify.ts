import { z } from 'zod'
import { baseUrl, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

const priority = z.int().min(0).max(10).optional()

export const gotify = defineKind({
  kind: 'gotify',
  label: 'Gotify',
  schema: z.strictObject({ url: baseUrl, token: token(), priority, priority_up: priority }),
  secretFields: ['token'],
  help: [
    'url          address of the server',
    'token        application token (secret)',
    "priority     1 to 10 for failures, 0 to leave them out (the application's own)",
    "priority_up  1 to 10 for recoveries, 0 to leave them out (the application's own)",
  ],
  isNoop: (config, status) => (status === 'up' ? config.priority_up : config.priority) === 0,
  targetsOf: (config) => [config.url],
})
