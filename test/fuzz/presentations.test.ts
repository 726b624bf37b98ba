import { randomInt } from 'node:crypto'
import test from 'ava'
import {
  client,
  holder,
  newCredential,
  otherKeyPair,
  product,
  readPresentation,
  requestPresentation,
  start,
  stop,
  submitPresentation,
} from '../ingress/api-risk/presentation-support.ts'
import { effort } from '../support/effort.ts'
import type { Reply } from '../support/platform-client.ts'
import { type Random, randomOf } from '../support/random.ts'
import { post } from '../support/test-wallet.ts'
import { encryptAnswer } from './presentation-answer.ts'
import { type Answered, bind, type Good, MUTATIONS, spoilForm, tokenOf } from './presentation-mutations.ts'

// `make fuzz-presentations` sends 10,000 presentations with a new seed. Without FUZZ_REQUESTS the number is small and the
// seed is fixed. A failure names the seed and the case that repeat it.

const { FUZZ_REQUESTS, FUZZ_SEED, FUZZ_CASE } = process.env
const count = Number(FUZZ_REQUESTS ?? effort(60, 150))
const seed = Number(FUZZ_SEED ?? (FUZZ_REQUESTS === undefined ? 20261 : randomInt(2 ** 31)))
const only = FUZZ_CASE === undefined ? undefined : Number(FUZZ_CASE)
/** Cases of one test. */
const BATCH = 500
/** Maximum processor time per presentation in this process, which runs ingress, worker and wallet. */
const MAX_CPU_MS = 250
/** Refusals that end a request (docs/spec/evidence-families.md#presentation-response). */
const MAX_REFUSALS = 3

let good: Good
let worstMs = 0
let tried = 0
const statuses = new Map<number, number>()
const reasons = new Map<string, number>()

test.before(async () => {
  await start()
  good = { credential: await newCredential(), holder, foreign: otherKeyPair, claims: ['legalName', 'gstin'] }
})
test.after.always(stop)

/** An open request with the data of its wallet. */
interface Open extends Answered {
  requested: Reply
  responseUri: string
  mode: 'direct_post' | 'direct_post.jwt'
  // biome-ignore lint/suspicious/noExplicitAny: the key that the request names
  key: any
  refusals: number
}

async function openRequest(mode: Open['mode']): Promise<Open> {
  const requested = await requestPresentation(client, { responseMode: mode })
  const jwt = await (await fetch(requested.json.requestUri)).text()
  const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
  return {
    requested,
    mode,
    nonce: claims.nonce,
    state: claims.state,
    clientId: claims.client_id,
    responseUri: claims.response_uri,
    key: claims.client_metadata.jwks?.keys[0],
    refusals: 0,
  }
}

const formOf = async ({ mode, state, key }: Open, vpToken: unknown): Promise<URLSearchParams> =>
  mode === 'direct_post'
    ? new URLSearchParams({ vp_token: JSON.stringify(vpToken), state })
    : new URLSearchParams({ response: await encryptAnswer({ vp_token: vpToken, state }, key) })

/** Returns a form that must be refused, with its mutation. */
async function spoilt(random: Random, request: Open, other: Open): Promise<{ what: string; form: URLSearchParams }> {
  const whole = () => bind(good.credential, request, good.holder)
  const kind = random.int(12)
  if (kind === 0) {
    return { what: 'token', form: await formOf(request, tokenOf(random, await whole(), true)) }
  }
  if (kind === 1) {
    return { what: 'form', form: spoilForm(random, await formOf(request, { company: [await whole()] })) }
  }
  if (kind === 2) {
    // A valid response to another open request, unchanged or with the state of this one.
    const theirs = { company: [await bind(good.credential, other, good.holder)] }
    return { what: 'replay', form: await formOf(random.oneIn(2) ? request : other, theirs) }
  }
  const what = random.pick(Object.keys(MUTATIONS)) as keyof typeof MUTATIONS
  const presentation = await MUTATIONS[what](random, good, request)
  return { what, form: await formOf(request, tokenOf(random, presentation, false)) }
}

const cpuMs = (since?: NodeJS.CpuUsage) => {
  const { user, system } = process.cpuUsage(since)
  return (user + system) / 1000
}

/** @returns the problem of the answer, with the commands to reproduce it */
async function tryCase(index: number, request: Open, other: Open): Promise<string | undefined> {
  const { what, form } = await spoilt(randomOf(seed, index), request, other)
  const before = process.cpuUsage()
  const { status } = await post(request.responseUri, form)
  const took = cpuMs(before)
  worstMs = Math.max(worstMs, took)
  tried++
  statuses.set(status, (statuses.get(status) ?? 0) + 1)
  const fault =
    status < 400 || status >= 500 ? `answered ${status}` : took > MAX_CPU_MS ? `took ${Math.round(took)} ms` : undefined
  return fault && `${what}: ${fault} (again: FUZZ_SEED=${seed} FUZZ_CASE=${index} make fuzz-presentations)\n${form}`
}

for (let first = 0; first < count; first += BATCH) {
  const cases = Array.from({ length: Math.min(BATCH, count - first) }, (_, index) => first + index)
  if (only !== undefined && !cases.includes(only)) continue
  test.serial(
    `mutated presentations ${first} to ${first + cases.length - 1}are refused without an internal error`,
    async (t) => {
      t.timeout(400_000)
      const open = new Map<Open['mode'], Open[]>()
      const faults: string[] = []
      const renewed = async (mode: Open['mode']) => {
        const list = (open.get(mode) ?? []).filter(({ refusals }) => refusals < MAX_REFUSALS)
        while (list.length < 2) list.push(await openRequest(mode))
        open.set(mode, list)
        return list
      }
      for (const index of only === undefined ? cases : [only]) {
        const mode = index % 4 === 0 ? 'direct_post.jwt' : 'direct_post'
        const [request, other] = await renewed(mode)
        if (!request || !other) throw new Error('two requests are open')
        const fault = await tryCase(index, request, other)
        if (fault) faults.push(fault)
        request.refusals++
        if (request.refusals === MAX_REFUSALS) {
          const { state, reasons: found } = (await readPresentation(client, request.requested)).json
          if (state === 'VERIFIED') faults.push(`the request of case ${index} is VERIFIED, seed ${seed}`)
          for (const reason of found) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
        }
      }
      t.deepEqual(faults, [], `seed ${seed}`)
    },
  )
}

test.serial('mutated presentations were not recorded, and a valid one verifies', async (t) => {
  const list = (map: Map<unknown, number>) => [...map].map(([name, times]) => `${times} x ${name}`).join(', ')
  t.log(`${tried} presentations, seed ${seed}, at most ${Math.round(worstMs)} ms of processor: ${list(statuses)}`)
  t.log(list(reasons))
  for (const [table, where] of [
    ['presentations', { state: 'VERIFIED' }],
    ['presentation_values', {}],
    ['usage_units', {}],
    ['events', {}],
  ] as const)
    t.deepEqual(await product.db(table).where(where), [], table)
  if (only === undefined) t.true(reasons.size >= 8, 'the refusals have many reasons')
  for (const responseMode of ['direct_post', 'direct_post.jwt'])
    t.is((await submitPresentation(await requestPresentation(client, { responseMode }))).status, 200)
  const request = await openRequest('direct_post.jwt')
  const whole = await formOf(request, { company: [await bind(good.credential, request, good.holder)] })
  t.is((await post(request.responseUri, whole)).status, 200, 'the presentation is valid before the mutation')
  t.is((await post(request.responseUri, whole)).status, 409)
})
