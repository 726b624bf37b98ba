import { randomInt } from 'node:crypto'
import test from 'ava'
import { effort } from '../support/effort.ts'
import { eventually } from '../support/eventually.ts'
import { randomOf } from '../support/random.ts'
import { exchange } from './exchange.ts'
import { makeRequest } from './http-request.ts'
import { makeMailSession } from './mail-session.ts'
import { openTarget, type Target } from './target.ts'

// `make fuzz` sends 10,000 requests with a new seed. Without FUZZ_REQUESTS the number is small and the seed is fixed.
// A failure names the seed and the case that repeat it.

const { FUZZ_REQUESTS, FUZZ_SEED, FUZZ_CASE, FUZZ_MINUTES = '4' } = process.env
const count = Number(FUZZ_REQUESTS ?? effort(150, 500))
const seed = Number(FUZZ_SEED ?? (FUZZ_REQUESTS === undefined ? 20261 : randomInt(2 ** 31)))
const only = FUZZ_CASE === undefined ? undefined : Number(FUZZ_CASE)
/** Cases of one test; each test uses a new tenant. More tenants could not sign in from one address in time. */
const BATCH = 500
/** Requests in flight at once. */
const CONCURRENCY = 12
/** Maximum growth of memory in the second half of a long run. */
const MAX_GROWTH_BYTES = 128 * 1024 * 1024

let target: Target
let deadline = 0
let sent = 0
/** Counts responses by status, because a run with only 400 and 401 would test nothing. */
const statuses = new Map<string, number>()
let halfway: Record<string, number> | undefined

test.before(async () => {
  target = await openTarget()
  deadline = performance.now() + Number(FUZZ_MINUTES) * 60_000
})
test.after.always(async () => {
  await target?.[Symbol.asyncDispose]()
})

for (let first = 0; first < count; first += BATCH) {
  const cases = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => first + index)
  if (only !== undefined && !cases.includes(only)) continue
  test.serial(
    `mutated requests ${first} to ${first + cases.length - 1} get a response without an internal error`,
    async (t) => {
      t.timeout(300_000)
      const tenant = await target.tenant()
      const left = (only === undefined ? cases : [only]).values()
      const faults: string[] = []
      const work = async () => {
        for (const index of left) {
          if (performance.now() > deadline) return
          const fault = await tryCase(index, tenant)
          if (fault) faults.push(fault)
          sent++
        }
      }
      await Promise.all(Array.from({ length: CONCURRENCY }, work))
      if (sent >= count / 2) halfway ??= target.memory()
      t.deepEqual(faults, [], `seed ${seed}`)
    },
  )
}

test.serial('every process still runs, responds and has not grown', async (t) => {
  t.log(`${sent} of ${count} requests, seed ${seed}`)
  t.log(
    [...statuses]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([status, times]) => `${times} x ${status}`)
      .join(', '),
  )
  if (only === undefined) t.true(succeeded() > sent / 10, 'at least a tenth of the requests succeeds')
  for (const [name, { pid, output }] of Object.entries(target.processes)) {
    t.notThrows(() => process.kill(pid, 0), `${name}:\n${output().slice(-2_000)}`)
  }
  const { answer } = await exchange(
    target.httpPort,
    Buffer.from('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    true,
  )
  t.regex(answer, /^HTTP\/1\.1 200 /)
  // An exchange ends after a second without data, which a busy machine may need to respond.
  await eventually('the mail listener to answer', async () => {
    const { answer: greeting } = await exchange(target.mailPort, Buffer.from('EHLO a\r\nQUIT\r\n'), true, 'server')
    return /^220 [\s\S]*^221 /m.test(greeting)
  })
  for (const [name, bytes] of Object.entries(target.memory())) {
    const grownBytes = bytes - (halfway?.[name] ?? bytes)
    t.true(grownBytes < MAX_GROWTH_BYTES, `${name} grew by ${Math.round(grownBytes / 1_048_576)} MB`)
  }
})

/** @returns the number of requests that succeeded or were redirected; mails do not count */
function succeeded(): number {
  return [...statuses].reduce((sum, [status, times]) => (/^(20[0-6]|30[1-8])$/.test(status) ? sum + times : sum), 0)
}

/** @returns the problem of the answer, with the commands to reproduce it */
async function tryCase(index: number, tenant: Awaited<ReturnType<Target['tenant']>>): Promise<string | undefined> {
  const random = randomOf(seed, index)
  const isMail = random.oneIn(10)
  const made = isMail
    ? { ...makeMailSession(random, tenant.mailAddress), isWhole: false }
    : makeRequest(random, target.routes, tenant)
  const { answer, isAnswered } = await exchange(
    isMail ? target.mailPort : target.httpPort,
    made.bytes,
    made.isWhole,
    isMail ? 'server' : 'client',
  )
  const status = answer.slice(isMail ? 0 : 9, isMail ? 3 : 12) || 'silence'
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const fault = isMail ? mailViolation(answer) : httpViolation(answer)
  if (isAnswered && !fault) return undefined
  const what = isAnswered ? fault : 'no answer'
  const start = made.bytes.toString('latin1').slice(0, 600)
  return `${made.label}: ${what} (again: FUZZ_SEED=${seed} FUZZ_CASE=${index} make fuzz)\n${JSON.stringify(start)}`
}

/** Node answers 501 to an unknown transfer coding and 505 to a version; 503 is intended. */
function httpViolation(answer: string): string | undefined {
  const [line = ''] = answer.split('\r\n')
  return /^HTTP\/1\.1 5(?!0[135])/.test(line) ? line : undefined
}

/** The only reply of the mail listener that reports an internal failure. */
function mailViolation(answer: string): string | undefined {
  return /^451 .*/m.exec(answer)?.[0]
}
