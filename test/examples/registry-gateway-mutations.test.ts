import test from 'ava'
import { AccountsAnswer } from '#shared/risk/registries/http/accounts.ts'
import { CompanyAnswer } from '#shared/risk/registries/http/companies.ts'
import { GroupAnswer } from '#shared/risk/registries/http/groups.ts'
import { RegistryCompanyAnswer } from '#shared/risk/registries/http/registry-companies.ts'
import { OutwardSuppliesAnswer, TaxpayerAnswer } from '#shared/risk/registries/http/taxpayers.ts'
import { TradeReturnsAnswer } from '#shared/risk/registries/http/trade-returns.ts'
import { answerTo, bytesOf, type Exchange, replayed, type Sample, sampleOf } from './registry-gateway-samples.ts'

const SEED = 20_261_127
/** 200 changes for each adapter, shared by its samples. */
const RUNS = { gleif: 200, sandbox: 100, 'companies-house': 200, setu: 67 }

/** A small generator, so that a failure can be repeated. */
function generator(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type Path = readonly (string | number)[]

function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return Object.entries(value).flatMap(([name, member]) => leavesOf(member, [...path, name]))
}

const CHANGES: readonly ((value: unknown) => unknown)[] = [
  () => undefined,
  () => null,
  () => ({}),
  () => 7,
  () => '1.005',
  () => '',
  (value) => [value],
  (value) => String(value).toLowerCase(),
  (value) => `${String(value)}9`,
]

function changed(value: unknown, path: Path, change: (value: unknown) => unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined || typeof value !== 'object' || value === null) return change(value)
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value }
  const next = changed(Reflect.get(copy, name), rest, change)
  if (next === undefined && rest.length === 0) Reflect.deleteProperty(copy, name)
  else Reflect.set(copy, name, next)
  return copy
}

/** Changes one answer of the provider: a member, or the text. */
function mutated(sample: Sample, random: (below: number) => number): Sample {
  const candidates = sample.exchanges.filter(({ request }) => !/\/(authenticate|login)$/.test(request.url))
  const victim = candidates[random(candidates.length)]
  const change = (exchange: Exchange): Exchange => {
    if (exchange !== victim) return exchange
    const bytes = bytesOf(exchange.response).toString()
    if (random(10) === 0) return withText(exchange, bytes.slice(0, random(bytes.length)))
    const leaves = leavesOf(exchange.response.body)
    const mutation = CHANGES[random(CHANGES.length)] ?? (() => undefined)
    return withText(
      exchange,
      JSON.stringify(changed(exchange.response.body, leaves[random(leaves.length)] ?? [], mutation)),
    )
  }
  return { ...sample, exchanges: sample.exchanges.map(change) }
}

function withText({ request, response }: Exchange, bodyText: string): Exchange {
  const { body: _body, ...rest } = response
  return { request, response: { ...rest, bodyText } }
}

const schemas = [
  ['gleif', 'parents-good', GroupAnswer],
  ['sandbox', 'good', TaxpayerAnswer],
  ['sandbox', 'companies-good', CompanyAnswer],
  ['companies-house', 'good', RegistryCompanyAnswer],
  ['setu', 'good', AccountsAnswer],
  ['setu', 'turnover-borrower', OutwardSuppliesAnswer],
  ['setu', 'trade-subcontractor', TradeReturnsAnswer],
] as const

for (const [provider, name, schema] of schemas) {
  test(`${provider}/${name}: a changed provider answer gives a reason or a valid answer`, async (t) => {
    const sample = sampleOf(provider, name)
    const random = generator(SEED)
    const subject = JSON.stringify(sample.expect.body?.data).slice(0, 40)
    for (let run = 1; run <= RUNS[provider]; run++) {
      const changedSample = mutated(sample, random)
      // A call that is not recorded, for example a tracking that a lost month needs, fails like a connection.
      const { composition, faults } = replayed(changedSample)
      const answer = await answerTo(changedSample, composition)
      const at = `seed ${SEED}, run ${run}`
      t.deepEqual(faults, [], at)
      const body: { code?: string } = JSON.parse(answer.body.toString())
      if (answer.status !== 200) {
        t.deepEqual(Object.keys(body), ['code'], at)
        continue
      }
      t.true(schema.safeParse(body).success, at)
      const text = changedSample.exchanges.map(({ response }) => bytesOf(response).toString()).join('\n')
      for (const value of inventedIn(body, sample, text))
        t.fail(`${at}: ${value} is in no provider answer (${subject})`)
    }
  })
}

/** Returns texts of an answer that neither the unchanged answer nor the provider has. Sums and hashes are computed. */
function inventedIn(body: object, sample: Sample, providers: string): string[] {
  const expected = JSON.stringify(sample.expect.body)
  const data: unknown = Reflect.get(body, 'data')
  return (
    leavesOf(data)
      .map((path) =>
        path.reduce<unknown>(
          (value, name) => (typeof value === 'object' && value ? Reflect.get(value, name) : value),
          data,
        ),
      )
      .filter((value): value is string => typeof value === 'string' && value !== '')
      .filter((value) => !expected.includes(value) && !/^[0-9a-f]{64}$|^-?[0-9]+\.[0-9]{2}$/.test(value))
      .filter((value) => !providers.toUpperCase().includes(JSON.stringify(value).slice(1, -1).toUpperCase()))
      // Words, dates and masks are written in another form.
      .filter((value) => !/^[A-Z_]+$|^[0-9]{4}-[0-9]{2}(-[0-9]{2})?$|^X+/.test(value))
  )
}
