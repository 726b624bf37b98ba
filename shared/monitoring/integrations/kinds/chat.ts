import { z } from 'zod'
import { baseUrl, emailAddress, incomingWebhook, incomingWebhookHelp, singleLine, token } from '../fields.ts'
import { defineKind, type IntegrationKind } from '../kind.ts'

export const slack = defineKind({
  kind: 'slack',
  label: 'Slack',
  about: 'A message in a channel, by any Slack-compatible webhook.',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})

export const mattermost = defineKind({
  kind: 'mattermost',
  label: 'Mattermost',
  about: 'A message in a channel.',
  logo: 'mattermost',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})

export const rocketchat = defineKind({
  kind: 'rocketchat',
  label: 'Rocket.Chat',
  about: 'A message in a channel.',
  logo: 'rocketdotchat',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})

export const discord = defineKind({
  kind: 'discord',
  label: 'Discord',
  about: 'A message in a channel.',
  logo: 'discord',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})

export const googlechat = defineKind({
  kind: 'googlechat',
  label: 'Google Chat',
  about: 'A message in a space.',
  logo: 'googlechat',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})

export const msteamsw = defineKind({
  kind: 'msteamsw',
  label: 'Microsoft Teams',
  about: 'A card in a channel.',
  schema: incomingWebhook,
  secretFields: ['url'],
  help: incomingWebhookHelp,
  targetsOf: (config) => [config.url],
})

export const matrix = defineKind({
  kind: 'matrix',
  label: 'Matrix',
  about: 'A message in a room.',
  logo: 'matrix',
  schema: z.strictObject({
    homeserver: baseUrl,
    access_token: token(1000),
    room_id: singleLine(255).refine((text) => text.startsWith('!'), 'must start with !'),
  }),
  secretFields: ['access_token'],
  help: [
    'homeserver    URL of the home server',
    'access_token  token of the sending account (secret)',
    'room_id       id of the room, which starts with !; the account must have joined it',
  ],
  targetsOf: (config) => [config.homeserver],
})

export const zulip = defineKind({
  kind: 'zulip',
  label: 'Zulip',
  about: 'A message in a stream.',
  logo: 'zulip',
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
    'site       URL of the organisation',
    'bot_email  e-mail address of the bot',
    'api_key    key of the bot (secret)',
    'mtype      stream or private (stream)',
    "to         name of the stream, or the user's e-mail address",
    'topic      topic in the stream (the check)',
  ],
  targetsOf: (config) => [config.site],
})

export const telegram = defineKind({
  kind: 'telegram',
  label: 'Telegram',
  about: 'A message by a bot of yours.',
  logo: 'telegram',
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

export const chatKinds: readonly IntegrationKind[] = [
  slack,
  msteamsw,
  googlechat,
  discord,
  telegram,
  mattermost,
  rocketchat,
  matrix,
  zulip,
]
