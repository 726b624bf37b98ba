import type { Knex } from 'knex'
import { toIsoSeconds } from '../../time.ts'
import { knownMarks, makeMark, readInstallation, recordRestore } from '../database/restore-mark-store.ts'
import { describeError, type Log } from './log.ts'
import { isRestored, restoreMarkFile } from './restore-mark-file.ts'
import { type WatchedProblems, watchProblems } from './watched-problems.ts'

/**
 * Blocks messages that a restored copy would send: old alerts, links, and checkpoints of an older log. A database
 * that lacks marks of more than a minute is a copy, and is flagged for processes without the folder.
 */
export type RestoreGate = WatchedProblems

const POLL_EVERY_MS = 5_000

export function openRestoreGate({ db, log, directory }: { db: Knex; log: Log; directory: string }): RestoreGate {
  let isKeeping = true
  return watchProblems({
    find: findProblems,
    intervalMs: POLL_EVERY_MS,
    unasked: 'database: not checked yet for a restored copy',
    log,
    events: { unanswered: 'restore.not-looked-at', found: 'restore.gate-closed' },
  })

  async function findProblems(): Promise<string[]> {
    const { id, restoredFrom } = await readInstallation(db)
    const file = restoreMarkFile(directory, id)
    const kept = await file.read()
    if (restoredFrom !== null) {
      return [`database: restored from ${toIsoSeconds(restoredFrom)}, so nothing goes out: admin restore verify`]
    }
    if (
      isRestored(
        kept,
        kept.length === 0
          ? []
          : await knownMarks(
              db,
              kept.map((mark) => mark.id),
            ),
      )
    ) {
      await recordRestore(db)
      return await findProblems()
    }
    const marks = await makeMark(db)
    // A second copy of a process, or a folder that is lost with each process: only the operator knows.
    if (kept.length === 0 && marks.length > 1) log.warn({ path: file.path }, 'restore.unguarded')
    await keep(marks)
    return []

    async function keep(marks: Awaited<ReturnType<typeof makeMark>>): Promise<void> {
      if (marks[0]?.id === kept[0]?.id) return
      try {
        await file.write(marks)
        isKeeping = true
      } catch (error) {
        if (isKeeping) log.warn({ path: file.path, ...describeError(error) }, 'restore.mark-not-kept')
        isKeeping = false
      }
    }
  }
}
