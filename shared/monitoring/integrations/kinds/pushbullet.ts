import { z } from 'zod'
import { baseUrl, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const pushbullet = defineKind({
  kind: 'pushbullet',
  label: 'Pushbullet',
  schema: z.strictObject({ access_token: token(), base_url: baseUrl.default('https://api.pushbullet.com') }),
  secretFields: ['access_token'],
  help: ['access_token  token of the account (secret)', 'base_url      server (https://api.pushbullet.com)'],
  targetsOf: (config) => [config.base_url],
})
