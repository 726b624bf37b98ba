import { z } from 'zod'
import { baseUrl, isUp, singleLine, token } from '../fields.ts'
import { defineKind, type IntegrationKind } from '../kind.ts'

export const github = defineKind({
  kind: 'github',
  label: 'GitHub issue',
  about: 'An issue in a repository.',
  logo: 'github',
  schema: z.strictObject({
    repo: z.string().regex(/^[\w.-]{1,100}\/[\w.-]{1,100}$/, 'must be owner/name'),
    token: token(),
    labels: z.array(singleLine(50)).max(20).default([]),
    base_url: baseUrl.default('https://api.github.com'),
  }),
  secretFields: ['token'],
  help: [
    'repo      owner/name; an issue is opened for each failure',
    'token     access token that may write issues (secret)',
    'labels    list of labels for the issue',
    'base_url  API server (https://api.github.com; https://host/api/v3 for one of your own)',
  ],
  isNoop: isUp,
  targetsOf: (config) => [config.base_url],
})

export const trello = defineKind({
  kind: 'trello',
  label: 'Trello',
  about: 'A card on a board.',
  logo: 'trello',
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

export const boardKinds: readonly IntegrationKind[] = [github, trello]
