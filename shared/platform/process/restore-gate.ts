import type { Knex } from 'knex'
import { toIsoSeconds } from '../../time.ts'
import { knownMarks, makeMark, readInstallation, recordRestore } from '../database/restore-mark-store.ts'
import { isRestored, keptMarks } from './kept-marks.ts'
import { describeError, type Log } from './log.ts'

/**
 * Keeps back what a restored database would send: alerts that were sent long ago, links, and checkpoints of an older log.
 * Every half a minute the database gets a mark, which is kept outside as well; a database that lacks marks of more than
 * a minute is a restored copy, and says so itself from then on, to processes without the folder too.
 */
export interface RestoreGate extends AsyncDisposable {
  /** Why nothing goes out; empty while the gate is open. */
  problems(): string[]
  /** Calls at once and at every change. */
  onChange(listener: (isOpen: boolean) => void): void
  /** Resolves once the database was asked for the first time, whatever the answer. */
  asked(): Promise<void>
}

const LOOK_EVERY_MS = 5_000

/** @param directory CHECKPOINT_DIR */
export function openRestoreGate({ db, log, directory }: { db: Knex; log: Log; directory: string }): RestoreGate {
  const listeners = new Set<(isOpen: boolean) => void>()
  const asked = Promise.withResolvers<void>()
  let problems = ['database: was not asked yet whether it is a restored copy']
  let isClosing = false
  let isKeeping = true
  let timer: NodeJS.Timeout | null = null
  let looking = look()

  async function look(): Promise<void> {
    try {
      tell(await findProblems())
    } catch (error) {
      log.debug(describeError(error), 'restore.not-looked-at')
    }
    asked.resolve()
    if (isClosing) return
    timer = setTimeout(() => {
      looking = look()
    }, LOOK_EVERY_MS)
    timer.unref()
  }

  async function findProblems(): Promise<string[]> {
    const { id, restoredFrom } = await readInstallation(db)
    const file = keptMarks(directory, id)
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
    // A second copy of a process, or a folder that is lost with each of them: nobody can tell but the operator.
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

  function tell(found: string[]): void {
    const hasChanged = (found.length === 0) !== (problems.length === 0)
    if (found.length > 0 && found.join() !== problems.join()) log.error({ problems: found }, 'restore.gate-closed')
    problems = found
    if (hasChanged) for (const listener of listeners) listener(found.length === 0)
  }

  return {
    problems: () => problems,
    asked: () => asked.promise,
    onChange(listener) {
      listeners.add(listener)
      listener(problems.length === 0)
    },
    async [Symbol.asyncDispose]() {
      isClosing = true
      if (timer) clearTimeout(timer)
      await looking
    },
  }
}
