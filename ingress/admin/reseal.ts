import { resealAll } from '#shared/platform/database/sealed-store.ts'
import { type Command, UsageError } from './command.ts'

export const resealCommand: Command = {
  noun: 'reseal',
  summary: 'Bind every stored secret to its purpose, those of earlier versions too',
  help: [
    'Once, when no process of a version without SEAL_FORMAT runs any more. It may run beside the others, and again.',
    'Exit status 1 when a value opens with neither SECRET_KEY nor SECRET_KEY_PREVIOUS: it is left as it is.',
  ],
  options: {},
  async run(_given, { db, secrets, config }) {
    if (config.sealFormat !== 'v2') throw new UsageError('SEAL_FORMAT is v1 here: take the setting away first')
    const done = await resealAll(db, secrets)
    const text = done.map(({ table, column, resealed, unreadable }) => {
      const rest = unreadable === 0 ? '' : `, ${unreadable} unreadable`
      return `${table}.${column}: ${resealed} written anew${rest}`
    })
    return { json: done, text: text.join('\n'), failed: done.some(({ unreadable }) => unreadable > 0) }
  },
}
