import { z } from 'zod'
import { baseUrl, emailAddress, singleLine, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const zulip = defineKind({
  kind: 'zulip',
  label: 'Zulip',
  schema: z.strictObject({
    site: baseUrl,
    bot_email: emailAddress,
    api_key: token(),
    mtype: z.enum(['stream', 'private']).default('stream'),
    to: singleLine(254),
    topic: z.string().max(60).default(''),
  }),
  secretFields: ['api_key'],
  help: [
    'site       address of the organisation',
    'bot_email  e-mail address of the bot',
    'api_key    key of the bot (secret)',
    'mtype      stream or private (stream)',
    "to         name of the stream, or the user's e-mail address",
    'topic      topic in the stream (the check)',
  ],
  targetsOf: (config) => [config.site],
})
