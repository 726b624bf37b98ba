import { z } from 'zod'
import { baseUrl, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const telegram = defineKind({
  kind: 'telegram',
  label: 'Telegram',
  schema: z.strictObject({
    token: token(200).refine((text) => /^[\w:-]+$/.test(text), 'is not a bot token'),
    id: z.union([z.int(), z.string().regex(/^(?:-?\d{1,20}|@\w{1,64})$/, 'is not a chat id')]),
    thread_id: z.int().positive().optional(),
    base_url: baseUrl.default('https://api.telegram.org'),
  }),
  secretFields: ['token'],
  help: [
    'token      token of the bot (secret)',
    'id         chat id, or @name of a channel',
    'thread_id  topic within the chat',
    'base_url   Bot API server (https://api.telegram.org)',
  ],
  recipientOf: (config) => String(config.id),
  targetsOf: (config) => [config.base_url],
})
