import { z } from 'zod'
import { baseUrl, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

const priority = z.int().min(-3).max(2).default(0)

/** Pushover. Priority 2 repeats until somebody confirms; -3 is ours and leaves the direction out. */
export const po = defineKind({
  kind: 'po',
  label: 'Pushover',
  schema: z.strictObject({
    token: token(100),
    user_key: token(100),
    priority,
    priority_up: priority,
    base_url: baseUrl.default('https://api.pushover.net'),
  }),
  secretFields: ['token'],
  help: [
    'token        token of the application (secret)',
    'user_key     key of the user or group',
    'priority     -2 to 2 for failures, -3 to leave them out (0)',
    'priority_up  -2 to 2 for recoveries, -3 to leave them out (0)',
    'base_url     server (https://api.pushover.net)',
  ],
  isNoop: (config, status) => (status === 'up' ? config.priority_up : config.priority) === -3,
  recipientOf: (config) => config.user_key,
  targetsOf: (config) => [config.base_url],
})
