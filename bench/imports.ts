import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { median } from './load.ts'
import { openToken } from './packs.ts'
import { costPerItem, openProcessorTime } from './processor-time.ts'
import { residentMb } from './resident.ts'
import { openBenchStack } from './stack.ts'
import type { Row } from './table.ts'

const ROWS = 150_000
const BYTES = 20 * 1024 * 1024
const HEADER = 'id,loan_amnt,funded_amnt,term,int_rate,issue_d,loan_status,out_prncp,total_rec_prncp,desc\n'
const POLL_MS = 20

const Received = z.object({ importId: z.string() })
const Read = z.object({ status: z.string(), counts: z.object({ accepted: z.int() }) })

interface Side {
  uploadMs: number
  importMs: number
  /** processor time per row of importer and database */
  rowUs: number
  ingressMb: number
  importerMb: number
}

/**
 * Imports a tape of 20 MiB and 150,000 rows. Measures rows per second from the end of the upload, and the maximum
 * growth of resident memory of ingress and importer. The first tape warms up both.
 * @param before a tree of the previous build, with its dependencies installed; both are measured alternately
 */
export async function benchImports({ rounds, before }: { rounds: number; before: string | undefined }): Promise<Row[]> {
  await using resources = new AsyncDisposableStack()
  const trees = before === undefined ? [undefined] : [before, undefined]
  const measured = []
  for (const tree of trees) {
    const stack = resources.use(await openBenchStack({ PLATFORM_RATE_LIMIT_PER_MINUTE: '0' }, tree))
    const { port, child } = await stack.ingress()
    const importer = await stack.workers('tape-importer')
    const token = await openToken(stack, port, ['colending'])
    const name = `tape of 20 MiB, ${ROWS} rows${tree === undefined ? '' : ', the build before'}`
    const time = await openProcessorTime(stack.db, { ingress: [child.pid ?? 0], evaluator: [importer.pid ?? 0] })
    measured.push({ name, sides: [] as Side[], run: (n: number) => oneTape({ port, token, child, importer, time }, n) })
  }
  for (let round = 0; round <= rounds; round++) {
    for (const { run, sides } of measured) sides.push(await run(round))
  }
  const speeds = measured.map(({ sides }) => speedOf(sides.slice(1)))
  return measured.map(({ name, sides: [first, ...sides] }, index) => {
    const of = (pick: (side: Side) => number) => Math.round(median(sides.map(pick)))
    return {
      name,
      'upload ms': of(({ uploadMs }) => uploadMs),
      'rows/s': Math.round(speeds[index] ?? 0),
      ratio: ((speeds[index] ?? 0) / (speeds[0] ?? 1)).toFixed(2),
      'CPU us/row': of(({ rowUs }) => rowUs),
      'ingress MB grown': of(({ ingressMb }) => ingressMb),
      'importer MB grown': of(({ importerMb }) => importerMb),
      'first tape': `${Math.round(first?.ingressMb ?? 0)}, ${Math.round(first?.importerMb ?? 0)} MB`,
      limit: '10,000 rows/s, 16 MB, 64 MB',
    }
  })
}

const speedOf = (sides: readonly Side[]) => median(sides.map(({ importMs }) => (ROWS * 1_000) / importMs))

interface Running {
  port: number
  token: string
  child: ChildProcess
  importer: ChildProcess
  time: Awaited<ReturnType<typeof openProcessorTime>>
}

async function oneTape({ port, token, child, importer, time }: Running, round: number): Promise<Side> {
  const watched = [child, importer].map(({ pid = 0 }) => watchMemory(pid))
  const started = performance.now()
  const importId = await upload(port, token, tapeOf(round))
  const uploaded = performance.now()
  const from = await time.read()
  await ended(port, token, importId)
  const importMs = performance.now() - uploaded
  const cost = costPerItem(from, await time.read(), ROWS)
  const [ingressMb = 0, importerMb = 0] = await Promise.all(watched.map((one) => one.stop()))
  const rowUs = (cost.evaluator ?? 0) + (cost.database ?? 0)
  return { uploadMs: uploaded - started, importMs, rowUs, ingressMb, importerMb }
}

function tapeOf(round: number): Buffer {
  const each = Math.floor((BYTES - HEADER.length) / ROWS)
  const lines = Array.from({ length: ROWS }, (_, n) => {
    const cells = `${round}-${n},5000.0,5000.0, 36 months,10.65%,Dec-2015,Fully Paid,0.0,5000.0,`
    return `${cells.padEnd(each - 1, 'x')}\n`
  })
  return Buffer.from(HEADER + lines.join(''))
}

async function upload(port: number, token: string, tape: Buffer): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/v1/colending/loan-tapes`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'text/csv',
      'x-idempotency-key': crypto.randomUUID(),
    },
    body: new Uint8Array(tape),
  })
  if (answer.status !== 202) throw new Error(`the upload was answered with ${answer.status}: ${await answer.text()}`)
  return Received.parse(await answer.json()).importId
}

async function ended(port: number, token: string, importId: string): Promise<void> {
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/colending/loan-tapes/${importId}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    if (answer.status === 200) {
      const { status, counts } = Read.parse(await answer.json())
      if (status !== 'COMPLETED' || counts.accepted !== ROWS) throw new Error(`${status}, ${counts.accepted} rows`)
      return
    }
    await answer.arrayBuffer()
    await sleep(POLL_MS * 5)
  }
}

/** Samples the resident memory of a process until it is stopped. @returns its maximum growth in MB */
function watchMemory(pid: number): { stop(): Promise<number> } {
  const before = residentMb(pid)
  let most = before
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      most = Math.max(most, residentMb(pid))
      await sleep(POLL_MS)
    }
  })()
  return {
    async stop() {
      isOver = true
      await watching
      return most - before
    },
  }
}
