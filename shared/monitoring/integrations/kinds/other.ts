import { z } from 'zod'
import { emailAddress, isSwitchedOff, switches } from '../fields.ts'
import { defineKind, type IntegrationKind } from '../kind.ts'

export const email = defineKind({
  kind: 'email',
  label: 'E-mail',
  about: 'A mail to one address, after its owner agrees.',
  schema: z.strictObject({ value: emailAddress, ...switches }),
  help: ['value   one e-mail address', 'down    report failures (true)', 'up      report recoveries (true)'],
  isNoop: isSwitchedOff,
  recipientOf: (config) => config.value.toLowerCase(),
})

export const group = defineKind({
  kind: 'group',
  label: 'Group',
  about: 'Several integrations under one name.',
  schema: z.strictObject({
    channels: z
      .array(z.uuid())
      .min(1, 'needs at least one integration')
      .max(100)
      .refine((ids) => new Set(ids).size === ids.length, 'names an integration twice'),
  }),
  help: ['channels  list of the ids of other integrations of the project, which may not be groups'],
})

const command = z
  .string()
  .max(1000)
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .default('')

export const shell = defineKind({
  kind: 'shell',
  label: 'Shell command',
  about: 'A command on this server.',
  schema: z
    .strictObject({ cmd_down: command, cmd_up: command })
    .refine(({ cmd_down, cmd_up }) => cmd_down !== '' || cmd_up !== '', 'needs at least one command'),
  help: [
    'cmd_down  command that `sh -c` runs for failures; empty: nothing',
    'cmd_up    command for recoveries; empty: nothing',
    'Commands find $CODE, $STATUS, $NOW, $NAME and $TAGS in their environment.',
  ],
  isNoop: (config, status) => (status === 'up' ? config.cmd_up : config.cmd_down) === '',
})

export const otherKinds: readonly IntegrationKind[] = [shell, group]
