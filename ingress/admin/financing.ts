import { beginEpoch } from '#shared/risk/first-financing/keys-store.ts'
import { type Command, envOf, envOption, UsageError } from './command.ts'

const begin: Command = {
  noun: 'financing-epoch',
  verb: 'begin',
  summary: 'Begin a new epoch of the keys that name receivables',
  help: [
    'The new public key is anchored. For thirty days requests carry fingerprints of both epochs and are stored under',
    'both. After that the old key only finds existing records, and their owners are notified.',
  ],
  options: { env: envOption },
  async run(options, { db, secrets }) {
    const env = envOf(options)
    const epoch = await beginEpoch(db, secrets, env)
    if (epoch === undefined)
      throw new UsageError('two epochs are live, or the registry was not used yet: nothing was changed')
    return { json: { env, epoch }, text: `epoch ${epoch} has begun in ${env}` }
  },
}

export const financingCommands: readonly Command[] = [begin]
