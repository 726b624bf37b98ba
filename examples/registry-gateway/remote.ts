import { CommandLineError, parseOptions } from '#shared/platform/process/command-line.ts'
import { notifySecretOf } from './compose.ts'
import { type KeyHealth, keyHealth } from './keys.ts'
import { loadSettings, type Settings } from './settings.ts'

/** Commands that call the running process with its admin token. */

async function callProcess(
  settings: Settings,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`http://${settings.GATEWAY_HOST}:${settings.GATEWAY_PORT}${path}`, {
    method,
    headers: { authorization: `Bearer ${settings.GATEWAY_ADMIN_TOKEN}`, 'content-type': 'application/json' },
    signal: AbortSignal.timeout(15_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new CommandLineError(`the gateway at ${settings.GATEWAY_HOST}:${settings.GATEWAY_PORT} does not answer`)
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

/** `consent new | show | join | revoke | forget | address`. */
export async function consent(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions({
    args: [...args],
    allowPositionals: true,
    options: {
      pan: { type: 'string' },
      gstin: { type: 'string', multiple: true, default: [] },
      mobile: { type: 'string' },
      for: { type: 'string', default: 'deposits,returns' },
      redirect: { type: 'string' },
    },
  })
  const [action = '', ...handles] = positionals
  const [handle = ''] = handles
  const settings = loadSettings(process.env)
  if (action === 'address') return printAddress(settings)
  const { pan, gstin: gstins, mobile, redirect: redirectUrl } = values
  const requests: Readonly<Record<string, () => ReturnType<typeof callProcess>>> = {
    new: () =>
      callProcess(settings, 'POST', '/consents', { pan, gstins, mobile, for: values.for.split(','), redirectUrl }),
    show: () => callProcess(settings, 'GET', `/consents/${handle}`),
    join: () => callProcess(settings, 'POST', '/consents/join', { handles }),
    revoke: () => callProcess(settings, 'DELETE', `/consents/${handle}`),
    forget: () => callProcess(settings, 'POST', `/consents/${handle}/forget`),
  }
  const request = Object.hasOwn(requests, action) ? requests[action] : undefined
  if (!request) throw new CommandLineError(`consent ${action}: there are ${Object.keys(requests).join(', ')}, address`)
  const { status, body } = await request()
  for (const [name, value] of Object.entries(body)) console.log(`${name}  ${String(value)}`)
  return status < 300 ? 0 : 1
}

/** Prints the address for the aggregator's notifications, which contains a secret. */
function printAddress(settings: Settings): number {
  if (!settings.GATEWAY_PUBLIC_URL) throw new CommandLineError('GATEWAY_PUBLIC_URL is not set')
  console.log(`${settings.GATEWAY_PUBLIC_URL.replace(/\/$/, '')}/notify/${notifySecretOf(settings)}`)
  return 0
}

/** Prints the health of the running process; exit status 1 if an adapter failed 5 times in a row or a key ends soon. */
export async function health(args: readonly string[]): Promise<number> {
  const { values } = parseOptions({ args: [...args], options: { keys: { type: 'string' } } })
  const { status, body } = await callProcess(loadSettings(process.env), 'GET', '/health')
  const adapters: [string, Record<string, unknown>][] = Object.entries({ ...(body.adapters ?? {}) })
  for (const [name, state] of adapters) {
    const parts = Object.entries(state).map(([member, value]) => `${member}=${JSON.stringify(value)}`)
    console.log(`${name.padEnd(18)}${parts.join('  ')}`)
  }
  console.log(`consents          ${JSON.stringify(body.consents ?? {})}`)
  const keys: [string, KeyHealth][] = Object.entries(
    values.keys === undefined ? { ...(body.keys ?? {}) } : keyHealth(values.keys, Date.now()),
  )
  for (const [issuer, { daysLeft, isAmber }] of keys) {
    console.log(`keys of ${issuer.padEnd(10)}${daysLeft} days left${isAmber ? '  AMBER' : ''}`)
  }
  const isFailing = adapters.some(([, state]) => state.isFailing === true)
  return status === 200 && !isFailing && !keys.some(([, { isAmber }]) => isAmber) ? 0 : 1
}
