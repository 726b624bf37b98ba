import { z } from 'zod'
import { defineKind } from '../kind.ts'

export const group = defineKind({
  kind: 'group',
  label: 'Group',
  schema: z.strictObject({
    channels: z
      .array(z.uuid())
      .min(1, 'needs at least one integration')
      .max(100)
      .refine((ids) => new Set(ids).size === ids.length, 'names an integration twice'),
  }),
  help: ['channels  list of the ids of other integrations of the project, which may not be groups'],
})
