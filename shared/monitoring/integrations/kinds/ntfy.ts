import { z } from 'zod'
import { baseUrl, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

const priority = z.int().min(0).max(5).default(3)

export const ntfy = defineKind({
  kind: 'ntfy',
  label: 'ntfy',
  schema: z.strictObject({
    topic: token(64).refine((text) => /^[\w-]+$/.test(text), 'may hold letters, digits, _ and - only'),
    url: baseUrl.default('https://ntfy.sh'),
    priority,
    priority_up: priority,
    token: token().optional(),
  }),
  secretFields: ['token'],
  help: [
    'topic        name of the topic',
    'url          server (https://ntfy.sh)',
    'priority     1 to 5 for failures, 0 to leave them out (3)',
    'priority_up  1 to 5 for recoveries, 0 to leave them out (3)',
    'token        access token, for protected topics (secret)',
  ],
  isNoop: (config, status) => (status === 'up' ? config.priority_up : config.priority) === 0,
  recipientOf: (config) => `${config.url}/${config.topic}`,
  targetsOf: (config) => [config.url],
})
