import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import type { HttpClient } from '#shared/platform/http/http-client.ts'
import { describeError, type Log } from '#shared/platform/process/log.ts'
import { proveConsistency } from '#shared/transparency/anchoring/merkle-proof.ts'
import { parseNote } from '#shared/transparency/anchoring/note.ts'
import type { NoteKey } from '#shared/transparency/anchoring/note-key.ts'
import {
  addCosignatures,
  latestCheckpoint,
  type PublishedCheckpoint,
  readTiles,
} from '#shared/transparency/anchoring/store.ts'
import { tileHashReader, tilesNeeded } from '#shared/transparency/anchoring/tiles.ts'
import { acceptCosignatures, formatAddCheckpoint } from '#shared/transparency/anchoring/witness-protocol.ts'

export interface Witness {
  url: string
  key: NoteKey
}

interface WitnessDeps {
  db: Knex
  http: HttpClient
  log: Log
}

/** More than half; 0 without witnesses. */
function quorumOf(witnesses: readonly unknown[]): number {
  return witnesses.length === 0 ? 0 : Math.floor(witnesses.length / 2) + 1
}

/** Caches the size that each witness cosigned last. */
export function createWitnessing(witnesses: readonly Witness[], deps: WitnessDeps) {
  /** by witness and environment; a witness with another size responds 409 */
  const sizes = new Map<string, number>()

  async function requestFrom(env: ApiEnv, witness: Witness, checkpoint: PublishedCheckpoint): Promise<string> {
    const known = `${env}/${witness.url}`
    const { text } = parseNote(checkpoint.note)
    for (let attempt = 1; ; attempt++) {
      const oldSize = sizes.get(known) ?? 0
      const proof = await consistencyProof(deps.db, env, oldSize, checkpoint.size)
      const answer = await deps.http.request({
        method: 'POST',
        url: `${witness.url.replace(/\/+$/, '')}/add-checkpoint`,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body: formatAddCheckpoint({ oldSize, proof, note: checkpoint.note }),
      })
      if (answer.status === 409 && attempt === 1) {
        const size = Number(answer.body.toString('utf8').trim())
        if (!Number.isSafeInteger(size) || size < 0 || size > checkpoint.size)
          throw new Error('the witness has a larger tree than our log')
        sizes.set(known, size)
        continue
      }
      if (answer.status !== 200) throw new Error(`the witness answered ${answer.status}`)
      const { lines } = acceptCosignatures(answer.body.toString('utf8'), text, [witness.key])
      sizes.set(known, checkpoint.size)
      return lines
    }
  }

  return {
    hasWitnesses: witnesses.length > 0,
    /** Returns true if the newest checkpoint has its quorum now. */
    async cosignNewest(env: ApiEnv): Promise<boolean> {
      const checkpoint = await latestCheckpoint(deps.db, env)
      if (!checkpoint || witnesses.length === 0) return false
      const answers = await Promise.allSettled(witnesses.map((witness) => requestFrom(env, witness, checkpoint)))
      const lines: string[] = []
      for (const [index, answer] of answers.entries()) {
        if (answer.status === 'fulfilled') lines.push(answer.value)
        else
          deps.log.warn(
            { env, witness: witnesses[index]?.key.name, ...describeError(answer.reason) },
            'witness.refused',
          )
      }
      const isQuorum = lines.length >= quorumOf(witnesses)
      if (lines.length > 0) await addCosignatures(deps.db, env, checkpoint.size, lines, isQuorum)
      return isQuorum
    },
  }
}

async function consistencyProof(db: Knex, env: ApiEnv, from: number, to: number): Promise<Uint8Array[]> {
  if (from === 0 || from === to) return []
  const needed = tilesNeeded(to, (read) => proveConsistency(from, to, read))
  return proveConsistency(from, to, tileHashReader(to, await readTiles(db, env, needed)))
}
