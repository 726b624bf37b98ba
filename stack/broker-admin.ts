import { mustRun } from './run-command.ts'

/**
 * Access to a broker's administration: its management API, or `rabbitmqctl` as a whole command, for example `['docker',
 * 'exec', id, 'rabbitmqctl']`.
 */
export type BrokerControl = {
  managementUrl?: string | undefined
  rabbitmqctl?: readonly string[] | undefined
  env?: Readonly<Record<string, string>> | undefined
}

/** Virtual hosts per rabbitmqctl call; this takes about ten seconds on a busy machine. */
const HOSTS_PER_CALL = 32

export function vhostUrl(amqpUrl: string, vhost: string): string {
  const url = new URL(amqpUrl)
  url.pathname = vhost === '/' ? '' : `/${encodeURIComponent(vhost)}`
  return url.href
}

/** Existing virtual hosts are left unchanged. */
export async function createVhosts(control: BrokerControl, amqpUrl: string, names: readonly string[]): Promise<void> {
  const user = decodeURIComponent(new URL(amqpUrl).username) || 'guest'
  if (control.managementUrl) {
    for (const name of names) {
      const vhost = encodeURIComponent(name)
      await manage(control.managementUrl, amqpUrl, 'PUT', `/api/vhosts/${vhost}`)
      const all = { configure: '.*', write: '.*', read: '.*' }
      await manage(control.managementUrl, amqpUrl, 'PUT', `/api/permissions/${vhost}/${encodeURIComponent(user)}`, all)
    }
    return
  }
  await evaluateForEach(
    control,
    names,
    `case rabbit_vhost:exists(V) of true -> ok; false -> rabbit_vhost:add(V, ${binary(user)}) end,` +
      ` rabbit_auth_backend_internal:set_permissions(${binary(user)}, V, <<".*">>, <<".*">>, <<".*">>, ${binary(user)})`,
  )
}

/** Missing virtual hosts are not an error. */
export async function dropVhosts(control: BrokerControl, amqpUrl: string, names: readonly string[]): Promise<void> {
  if (control.managementUrl) {
    for (const name of names) {
      await manage(control.managementUrl, amqpUrl, 'DELETE', `/api/vhosts/${encodeURIComponent(name)}`)
    }
    return
  }
  await evaluateForEach(
    control,
    names,
    'case rabbit_vhost:exists(V) of true -> rabbit_vhost:delete(V, <<"cli">>); false -> ok end',
  )
}

export async function vhostExists(control: BrokerControl, amqpUrl: string, name: string): Promise<boolean> {
  if (control.managementUrl) {
    const response = await manage(control.managementUrl, amqpUrl, 'GET', `/api/vhosts/${encodeURIComponent(name)}`)
    return response.status === 200
  }
  return (await evaluate(control, `rabbit_vhost:exists(${binary(name)}).`)).includes('true')
}

/** Includes exclusive queues. */
export async function queueNames(control: BrokerControl, amqpUrl: string, vhost: string): Promise<string[]> {
  if (control.managementUrl) {
    const response = await manage(control.managementUrl, amqpUrl, 'GET', `/api/queues/${encodeURIComponent(vhost)}`)
    const queues = (await response.json()) as { name: string }[]
    return queues.map(({ name }) => name)
  }
  const names = `[Name || {resource, _, queue, Name} <- rabbit_amqqueue:list_names(${binary(vhost)})]`
  const output = await evaluate(control, `io_lib:format("~s", [lists:join(<<" ">>, ${names})]).`)
  return output.match(/[\w.-]+/g) ?? []
}

async function manage(
  managementUrl: string,
  amqpUrl: string,
  method: string,
  path: string,
  body?: object,
): Promise<Response> {
  const { username, password } = new URL(amqpUrl)
  const login = `${decodeURIComponent(username) || 'guest'}:${decodeURIComponent(password) || 'guest'}`
  const response = await fetch(new URL(path, managementUrl), {
    method,
    headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(20_000),
  })
  if (!response.ok && response.status !== 404)
    throw new Error(`${method} ${path}: the broker answered ${response.status}`)
  return response
}

/**
 * Evaluates an Erlang expression for each virtual host, named V in it. A call starts a virtual machine, so it covers
 * many hosts; not all, because it has a timeout.
 */
async function evaluateForEach(control: BrokerControl, names: readonly string[], expression: string): Promise<void> {
  for (let from = 0; from < names.length; from += HOSTS_PER_CALL) {
    const some = names.slice(from, from + HOSTS_PER_CALL).map((name) => binary(name))
    await evaluate(control, `lists:foreach(fun(V) -> ${expression} end, [${some.join(',')}]).`)
  }
}

function evaluate({ rabbitmqctl, env }: BrokerControl, expression: string): Promise<string> {
  if (!rabbitmqctl) throw new Error('neither a management API nor rabbitmqctl reaches this broker')
  return mustRun([...rabbitmqctl, 'eval', expression], { env: { ...process.env, ...env } })
}

/** Escapes the name, because a quote in a login must not become code. */
function binary(text: string): string {
  return `<<${[...Buffer.from(text)].join(',')}>>`
}
