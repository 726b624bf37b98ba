import { z } from 'zod'
import { defineKind } from '../kind.ts'

const command = z
  .string()
  .max(1000)
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .default('')

export const shell = defineKind({
  kind: 'shell',
  label: 'Shell command',
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
