import { z } from 'zod'
import { baseUrl, isUp, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const trello = defineKind({
  kind: 'trello',
  label: 'Trello',
  schema: z.strictObject({
    key: token(100),
    token: token(200),
    list_id: token(64),
    base_url: baseUrl.default('https://api.trello.com'),
  }),
  secretFields: ['key', 'token'],
  help: [
    'key       API key (secret)',
    'token     token of the account (secret)',
    'list_id   list that gets a card for each failure',
    'base_url  server (https://api.trello.com)',
  ],
  isNoop: isUp,
  targetsOf: (config) => [config.base_url],
})
