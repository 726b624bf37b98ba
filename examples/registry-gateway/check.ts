import { setTimeout as sleep } from 'node:timers/promises'
import { CommandLineError, explainCommandLine, parseOptions } from '#shared/platform/process/command-line.ts'
import { OPERATIONS, type Row } from './check-rules.ts'
import { type CheckOptions, checkGateway, plannedRequests } from './check-run.ts'
import { openProviderHttp } from './provider-http.ts'

const HELP = `Checks that a registry gateway follows docs/registries/gateway.openapi.json.

  npm run -s gateway-check -- --url URL --token TOKEN [--gstin G] [--pan P] [--consent HANDLE]
    [--pair SUPPLIER,RECIPIENT] [--iec IEC] [--cin CIN] [--company AUTHORITY/NUMBER] [--known VALUE]... [--only OPERATION] [--max-calls 40] [--json]

Requests without their identifier are skipped. One request a second. Exit status: 0 without a failure, 1 with one,
2 for wrong options.
`

async function main(): Promise<number> {
  const { values } = parseOptions({
    options: {
      url: { type: 'string' },
      token: { type: 'string' },
      gstin: { type: 'string' },
      pan: { type: 'string' },
      consent: { type: 'string' },
      pair: { type: 'string' },
      iec: { type: 'string' },
      cin: { type: 'string' },
      company: { type: 'string' },
      known: { type: 'string', multiple: true, default: [] },
      only: { type: 'string' },
      'max-calls': { type: 'string', default: '40' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const { url, token, only, gstin, pan, iec, cin, consent, known, 'max-calls': max } = values
  if (values.help) {
    console.log(HELP)
    return 0
  }
  if (!url || !token || !URL.canParse(url)) throw new CommandLineError('--url (an address) and --token are needed')
  const names = OPERATIONS.map(({ name }) => name)
  if (only !== undefined && !names.includes(only)) {
    throw new CommandLineError(`there is no operation ${only}; there are ${names.join(', ')}`)
  }
  const maxCalls = Number(max)
  if (!Number.isInteger(maxCalls) || maxCalls < 1) throw new CommandLineError('--max-calls must be 1 or more')
  await using client = openProviderHttp()
  const options: CheckOptions = {
    url,
    token,
    ids: { gstin, pan, iec, cin, consent, known, pair: pairOf(values.pair), company: companyOf(values.company) },
    only,
    maxCalls,
    http: client.http,
    now: Date.now,
    pause: async () => void (await sleep(1000)),
  }
  const planned = plannedRequests(options, Date.now())
  if (!values.json) {
    console.log(`at most ${planned.requests} requests; a provider may charge ${planned.charged} of them`)
  }
  const { rows, requests } = await checkGateway(options)
  console.log(values.json ? JSON.stringify({ rows, requests }) : table(rows, requests))
  return rows.some(({ result }) => result === 'FAIL') ? 1 : 0
}

function pairOf(text: string | undefined): [string, string] | undefined {
  if (text === undefined) return undefined
  const [supplier, recipient, ...more] = text.split(',')
  if (!supplier || !recipient || more.length > 0) throw new CommandLineError('--pair must be SUPPLIER,RECIPIENT')
  return [supplier, recipient]
}

function companyOf(text: string | undefined): [string, string] | undefined {
  if (text === undefined) return undefined
  const [, authority, number] = /^(RA[0-9]{6})\/([0-9A-Za-z.-]+)$/.exec(text) ?? []
  if (!authority || !number) throw new CommandLineError('--company must be AUTHORITY/NUMBER, such as RA000585/00000006')
  return [authority, number]
}

function table(rows: readonly Row[], requests: number): string {
  const lines = [{ operation: 'operation', check: 'check', result: 'result', detail: 'detail' }, ...rows].map(
    ({ operation, check, result, detail }) =>
      `${operation.padEnd(30)}${check.padEnd(26)}${result.padEnd(8)}${detail}`.trimEnd(),
  )
  const count = (wanted: string) => rows.filter(({ result }) => result === wanted).length
  const summary = `${rows.length} checks: ${count('PASS')} passed, ${count('FAIL')} failed, ${count('WARN')} warned, ${count('SKIP')} skipped; ${requests} requests`
  return [...lines, summary].join('\n')
}

try {
  process.exit(await main())
} catch (error) {
  explainCommandLine(error)
}
