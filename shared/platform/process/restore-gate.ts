import type { Knex } from 'knex'
import { toIsoSeconds } from '../../time.ts'
import { knownMarks, makeMark, readInstallation, recordRestore } from '../database/restore-mark-store.ts'
import { describeError, type Log } from './log.ts'
import { isRestored, restoreMarkFile } from './restore-mark-file.ts'
import { type WatchedProblems, watchProblems } from './watched-problems.ts'

/**
 * Reports a problem while the database is a restored copy, which must not send old alerts, links or checkpoints. A
 * database that lacks restore marks of more than a minute is one; this is stored in it for processes without the
 * folder.
 */
export type RestoreGate = WatchedProblems

const POLL_EVERY_MS = 5_000

export function openRestoreGate({ db, log, directory }: { db: Knex; log: Log; directory: string }): RestoreGate {
  let isKeeping = true
  return watchProblems({
    find: findProblems,
    intervalMs: POLL_EVERY_MS,
    initial: 'database: not checked yet for a restored copy',
    log,
    events: { failed: 'restore.not-checked', found: 'restore.detected' },
  })

  async function findProblems(): Promise<string[]> {
    const { id, restoredFrom } = await readInstallation(db)
    const file = restoreMarkFile(directory, id)
    const kept = await file.read()
    if (restoredFrom !== null) {
      return [`database: restored from ${toIsoSeconds(restoredFrom)}, sending is not allowed yet: admin restore verify`]
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
    // This may be a new process or a folder that does not outlive its process: only the operator can know.
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
