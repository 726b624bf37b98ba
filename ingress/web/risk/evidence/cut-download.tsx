import { NotFoundError } from '#shared/errors.ts'
import { runSharedJob } from '#shared/jobs/operations/jobs.ts'
import { chosenCut, cutFileJob, isCutIncluded } from '#shared/risk/operations/pool-requests.ts'
import { cutFileLength, readCutFile } from '#shared/risk/pools/cut-files-store.ts'
import { sendStream } from '../../../text-pieces.ts'
import { Crumb } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { loadConsole, sendConsole } from '../console.tsx'
import { WAIT_MS } from './job-context.ts'

const FILES: Readonly<Record<string, { name: 'bundle' | 'csv'; type: string }>> = {
  'package.zip': { name: 'bundle', type: 'application/zip' },
  'tape.csv': { name: 'csv', type: 'text/csv; charset=utf-8; header=present' },
}

/** Sends a file of a cut, or a page to try again if it takes longer to create. */
export async function sendCutFile(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db } = context.deps
  const { pool = '', cut: cutId = '', file = '' } = context.params
  const found = Object.hasOwn(FILES, file) ? FILES[file] : undefined
  if (found === undefined) throw new NotFoundError('There is no such file.')
  const cut = await chosenCut(db, console, pool, cutId)
  const length = await createdLength(context, console, { cut, name: found.name })
  if (length === undefined) {
    const href = `${console.base}/pools/${pool}`
    return sendConsole(
      context,
      console,
      { title: 'File of a cut', area: 'pools' },
      <>
        <Crumb href={href} label="Pool" />
        <h1>The file is being created</h1>
        <p class="notice" role="status">
          This takes longer for large pools, or until the log includes the cut.
        </p>
        <a class="button primary" href={`${href}/cuts/${cutId}/${file}`}>
          Try again
        </a>
      </>,
      202,
    )
  }
  const { response } = context
  response
    .status(200)
    .set('Content-Type', found.type)
    .set('Content-Disposition', `attachment; filename="pool-${cut.id.slice(0, 8)}-${file}"`)
    .set('Cache-Control', 'no-store')
  await sendStream(response, readCutFile(db, cut.id, found.name), length)
}

/** Waits for the worker. @returns undefined if the file does not exist yet */
async function createdLength(
  { deps }: Context,
  { organisationId, env }: Awaited<ReturnType<typeof loadConsole>>,
  { cut, name }: { cut: Awaited<ReturnType<typeof chosenCut>>; name: 'bundle' | 'csv' },
): Promise<number | undefined> {
  const known = await cutFileLength(deps.db, cut.id, name)
  if (known !== undefined || (name === 'bundle' && !(await isCutIncluded(deps.db, cut)))) return known
  const path = name === 'bundle' ? `export?cut=${cut.id}` : `tape?cut=${cut.id}`
  const self = `/v1/securitisation/pools/${cut.poolId}/${path}`
  const caller = { organisationId, env }
  await runSharedJob({ caller, deps, waitMs: WAIT_MS }, cutFileJob(cut.id, name, self))
  return await cutFileLength(deps.db, cut.id, name)
}
