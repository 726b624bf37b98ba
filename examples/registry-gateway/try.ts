import { randomUUID } from 'node:crypto'
import { CommandLineError, parseOptions } from '#shared/platform/process/command-line.ts'
import { addMonths, indianDay } from '#shared/risk/packs/money.ts'
import { type IncomingResponse, NoAnswerError } from '#shared/risk/registries/connector.ts'
import type { Answer, GatewayRequest, Mapping } from './adapter.ts'
import { nameSuggestions } from './adapters/gleif.ts'
import type { AnswerLine, CallDeps, CallLine } from './calls.ts'
import { type Composition, composeGateway } from './compose.ts'
import { operationOf } from './gateway.ts'
import { openProviderHttp } from './provider-http.ts'
import { masked } from './rules.ts'
import { liveDeps } from './serve.ts'
import { loadSettings, type Settings } from './settings.ts'
import { memoryStore } from './store.ts'

const FORMS = `gstin GSTIN | lei LEI | lei --name TEXT | group CIN | company PAN | deposits PAN --consent H |
turnover GSTIN --consent H | trade SUPPLIER RECIPIENT --consent H | uk NUMBER`

type Build = (words: readonly string[], nowMs: number) => { path: string; query?: Record<string, string> }

const REQUESTS: Readonly<Record<string, { words: number; isConsented?: boolean; build: Build }>> = {
  gstin: { words: 1, build: ([gstin]) => ({ path: `/taxpayers/${gstin}` }) },
  lei: { words: 1, build: ([lei]) => ({ path: `/lei-records/${lei}` }) },
  group: { words: 1, build: ([cin = '']) => ({ path: '/groups', query: { cin } }) },
  company: { words: 1, build: ([pan = '']) => ({ path: '/companies', query: { pan } }) },
  uk: { words: 1, build: ([number]) => ({ path: `/registry-companies/RA000585/${number}` }) },
  deposits: {
    words: 1,
    isConsented: true,
    build([pan = ''], nowMs) {
      const today = indianDay(nowMs)
      return { path: '/accounts/deposits', query: { pan, from: `${addMonths(today, -7)}-01`, to: today } }
    },
  },
  turnover: {
    words: 1,
    isConsented: true,
    build: ([gstin = '']) => ({ path: '/returns/outward-supplies', query: { gstin } }),
  },
  trade: {
    words: 2,
    isConsented: true,
    build([supplierGstin = '', recipientGstin = ''], nowMs) {
      const to = addMonths(indianDay(nowMs), -1)
      return { path: '/returns/trade', query: { supplierGstin, recipientGstin, from: addMonths(to, -15), to } }
    },
  },
}

/** Exit status: 0 answered, 1 missing, 2 settings, 3 the provider differs from the mapping. */
export async function tryOne(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: { name: { type: 'string' }, consent: { type: 'string' }, raw: { type: 'boolean', default: false } },
  })
  const [what = '', ...words] = positionals
  const form = Object.hasOwn(REQUESTS, what) ? REQUESTS[what] : undefined
  if (!form) throw new CommandLineError(`try what? There are ${FORMS}`)
  const settings = loadSettings(process.env)
  await using client = openProviderHttp()
  const calls: CallLine[] = []
  const raws: IncomingResponse[] = []
  const answers: AnswerLine[] = []
  const deps: CallDeps = { ...liveDeps(client.http, (line) => calls.push(line)), raw: (_, answer) => raws.push(answer) }
  if (what === 'lei' && values.name !== undefined) return await suggest(settings, deps, values.name)
  if (words.length !== form.words) throw new CommandLineError(`try ${what}: the forms are ${FORMS}`)
  if (form.isConsented && !values.consent) throw new CommandLineError(`try ${what} needs --consent`)
  const { path, query = {} } = form.build(words, Date.now())
  // Held data belongs to the running process, which is therefore the one to answer.
  const answer = form.isConsented
    ? await callProcess(settings, path, query, values.consent ?? '', client.http)
    : await composed(settings, deps, (line) => answers.push(line)).gateway.answer(
        { method: 'GET', path, query, handle: null, organisation: null } satisfies GatewayRequest,
        randomUUID(),
        '',
      )
  for (const { host, status, ms, code } of calls) console.log(`call  ${host}  ${status ?? '-'}  ${ms} ms  ${code}`)
  if (values.raw) for (const { body } of raws) console.log(body.toString('utf8'))
  const member = answers.at(-1)?.member
  if (member) console.log(`differs  ${member}`)
  return report(answer, operationOf(path) ?? path, composed(settings, deps), raws.at(-1))
}

function composed(settings: Settings, deps: CallDeps, answered?: (line: AnswerLine) => void): Composition {
  return composeGateway(settings, deps, { store: memoryStore(), ...(answered && { answered }) })
}

async function callProcess(
  { GATEWAY_HOST, GATEWAY_PORT, GATEWAY_TOKEN }: Settings,
  path: string,
  query: Record<string, string>,
  handle: string,
  http: CallDeps['http'],
): Promise<Answer> {
  const { status, body } = await http({
    method: 'GET',
    url: `http://${GATEWAY_HOST}:${GATEWAY_PORT}${path}?${new URLSearchParams(query)}`,
    headers: { authorization: `Bearer ${GATEWAY_TOKEN}`, 'x-consent-handle': handle, 'x-request-id': randomUUID() },
    timeoutMs: 15_000,
    connectTimeoutMs: 3000,
    signal: AbortSignal.timeout(15_000),
  }).catch((error: unknown) => {
    if (!(error instanceof NoAnswerError)) throw error
    throw new CommandLineError(`the gateway at ${GATEWAY_HOST}:${GATEWAY_PORT} does not answer; start it with "serve"`)
  })
  return { status, headers: {}, body }
}

async function suggest(settings: Settings, deps: CallDeps, text: string): Promise<number> {
  if (!settings.GLEIF_URL) throw new CommandLineError('GLEIF_URL is not set')
  const work = {
    deps,
    operation: 'fuzzycompletions',
    requestId: randomUUID(),
    deadline: Date.now() + 6500,
    upstream: [],
  }
  const names = await nameSuggestions({ url: settings.GLEIF_URL }, work, text)
  for (const name of names) console.log(name)
  return names.length > 0 ? 0 : 1
}

function report(
  answer: Answer,
  operation: string,
  { adapters }: Composition,
  raw: IncomingResponse | undefined,
): number {
  const body: Record<string, unknown> = JSON.parse(answer.body.toString('utf8'))
  const mapping = adapters.find(({ operations }) => operations.includes(operation))?.mappings[operation]
  if (answer.status !== 200) {
    console.log(`answer  ${answer.status}  ${String(body.code)}`)
    if (!mapping) console.log('no adapter that is configured answers this request')
    return body.code === 'UNPARSEABLE' ? 3 : 1
  }
  const data = typeof body.data === 'object' && body.data !== null ? body.data : {}
  const shown: Record<string, unknown> = { ...data, asOf: body.asOf }
  for (const [member, from] of Object.entries(mapping?.members ?? {})) {
    console.log(`${member.padEnd(24)} ${shownValue(shown, member).padEnd(28)} from ${from}`)
  }
  const unknown = mapping?.known ? undocumented(mapping, raw) : []
  if (unknown.length > 0) console.log(`members that the mapping does not know: ${unknown.join(', ')}`)
  console.log('schema  the answer follows the contract')
  return unknown.length > 0 ? 3 : 0
}

/** Returns the members of the provider's object that no rule of the mapping names. */
function undocumented({ known = [], at = [] }: Mapping, raw: IncomingResponse | undefined): string[] {
  try {
    let value: unknown = JSON.parse(raw?.body.toString('utf8') ?? '')
    for (const name of at) value = typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
    const members = typeof value === 'object' && value !== null ? Object.keys(value) : []
    return members.filter((name) => !known.includes(name))
  } catch {
    return []
  }
}

/** Members inside of lists are named, not shown. */
function shownValue(shown: Record<string, unknown>, member: string): string {
  if (/[[.,]/.test(member)) return ''
  const value = shown[member]
  if (value === undefined) return 'absent'
  return value === null ? 'null' : maskedValue(value)
}

function maskedValue(value: unknown): string {
  if (Array.isArray(value)) return `${value.length} entries`
  if (typeof value !== 'string') return JSON.stringify(value).slice(0, 28)
  const isWord = /^[A-Z_]{1,20}$/.test(value) || /^[0-9]{4}-[0-9]{2}/.test(value)
  return isWord ? value : masked(value)
}
