import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import { readCheckpoint } from '#shared/transparency/anchoring/checkpoint.ts'
import { latestCheckpoint, sequencedSize } from '#shared/transparency/anchoring/store.ts'
import { confirmLogSize, endLog, type LogState, readLogState } from '#shared/transparency/log-keys/log-state-store.ts'
import { findLogKey } from '#shared/transparency/log-keys/store.ts'
import { checkpointFile } from '#shared/transparency/providers/checkpoint-file.ts'
import { type AdminContext, type Command, envOf, envOption, numberOf, UsageError } from './command.ts'

const ENVS: readonly ApiEnv[] = ['SANDBOX', 'PRODUCTION']

/** Returns why each log that signs nothing does so. Compares with the signed checkpoints in this process's folder. */
export async function logRefusals({ db, config }: Pick<AdminContext, 'config' | 'db'>): Promise<string[]> {
  const refusals = await Promise.all(
    ENVS.map(async (env) => {
      const [key, state] = await Promise.all([findLogKey(db, env), readLogState(db, env)])
      if (!key || !state) return []
      const note = await checkpointFile(config.checkpointDir, key).read()
      const [signed, stored] = [signedSize(note), await sequencedSize(db, env)]
      if (signed <= stored) return state.refusedReason === null ? [] : [`${env}: ${state.refusedReason}`]
      return [
        `${env}: a checkpoint of ${signed} entries was signed, but the database has only ${stored}. Nothing is signed ` +
          'and anchors stay PENDING until you replay the write-ahead log up to that size, or end this log: ' +
          `admin log restart --env ${env}`,
      ]
    }),
  )
  return refusals.flat()
}

function signedSize(note: string | undefined): number {
  try {
    return note === undefined ? 0 : readCheckpoint(note).size
  } catch {
    // The sequencer refuses a changed file, and records the reason.
    return 0
  }
}

const confirm: Command = {
  noun: 'log',
  verb: 'confirm',
  summary: 'Continue a log whose last signed checkpoint has no copy, because no larger one was published',
  help: [
    'After a restore on a new server, the log signs nothing, because the former server may have signed more entries than',
    'the backup contains. Two different logs with the same key would prove nothing. Compare with the newest checkpoint',
    'that users of the log have (GET /v1/transparency/{env}/checkpoint of the former server).',
  ],
  options: {
    env: envOption,
    size: { description: 'entries of the largest published checkpoint', value: 'N', required: true },
  },
  async run(options, { db }) {
    const env = envOf(options)
    const { name } = await requireLog(db, env)
    const size = numberOf(options, 'size')
    const published = (await latestCheckpoint(db, env))?.size ?? 0
    if (size !== published)
      throw new UsageError(
        `--size must be ${published}, the number of entries that the database has. If a larger checkpoint was published, ` +
          `its entries are lost: admin log restart --env ${env}`,
      )
    await confirmLogSize(db, env, published)
    return { json: { env, name, size: published }, text: `${name} continues after ${published} entries` }
  },
}

const restart: Command = {
  noun: 'log',
  verb: 'restart',
  summary: 'End a log whose signed entries are lost, and begin one under a new key',
  help: [
    'Proofs of the ended log stay valid under its key, but verifiers must trust the new one too. All stored entries get',
    'positions in the new log. Inform the users of the log first. Processes may run meanwhile. Then purge caches of',
    '/v1/transparency/ in front of the ingress.',
  ],
  options: {
    env: envOption,
    confirm: { description: 'name of the log, as the error without it shows', value: 'NAME' },
  },
  async run(options, { db }) {
    const env = envOf(options)
    const { name } = await requireLog(db, env)
    if (options.confirm !== name)
      throw new UsageError(`this ends the log ${name} for all its users. If you mean it, add: --confirm ${name}`)
    await endLog(db, env)
    return { json: { env, ended: name }, text: `${name} has ended; a log under a new key begins with the next step` }
  },
}

async function requireLog(db: Knex, env: ApiEnv): Promise<LogState> {
  const state = await readLogState(db, env)
  if (!state) throw new UsageError(`the log of ${env} has not begun`)
  return state
}

export const logCommands: readonly Command[] = [confirm, restart]
