import { z } from 'zod'
import { baseUrl, singleLine, token } from '../fields.ts'
import { defineKind } from '../kind.ts'

export const matrix = defineKind({
  kind: 'matrix',
  label: 'Matrix',
  schema: z.strictObject({
    homeserver: baseUrl,
    access_token: token(1000),
    room_id: singleLine(255).refine((text) => text.startsWith('!'), 'must start with !'),
  }),
  secretFields: ['access_token'],
  help: [
    'homeserver    address of the home server',
    'access_token  token of the sending account (secret)',
    'room_id       id of the room, which starts with !; the account must have joined it',
  ],
  targetsOf: (config) => [config.homeserver],
})
