/** Hosts of the hosted service, whose DNS records its users do not control. */
const HOSTED = /(^|\.)(hc-ping\.com|healthchecks\.io)$/
const LOCAL = /^(localhost|127\..*|\[::1\])$/

interface OldAddresses {
  /** the present ping addresses of the jobs */
  pingUrls: readonly string[]
  /** those whose path changes */
  changed: readonly string[]
}

/** Returns what is to be done so that the pings of the jobs arrive at this service. */
export function addressesToDo({ pingUrls, changed }: OldAddresses, publicUrl: string): string[] {
  const here = new URL(publicUrl)
  const old = new Map(
    pingUrls.flatMap((url) => (URL.canParse(url) ? [[new URL(url).host, new URL(url)] as const] : [])),
  )
  old.delete(here.host)
  if (old.size === 0) return []
  const named = [...old.values()].filter(isOwnName)
  const first = changed.find((url) => isOwnName(new URL(url)))
  const others = [...old.values()].filter((url) => !isOwnName(url)).map(({ host }) => host)
  return [
    ...(others.length === 0 ? [] : [changeOf(others, publicUrl)]),
    ...(named.length === 0 ? [] : first === undefined ? [recordOf(named, here)] : rulesOf(named, first, publicUrl)),
    ...(LOCAL.test(here.hostname)
      ? [`set PUBLIC_URL: its value is ${publicUrl}, and jobs on other machines cannot reach that address`]
      : []),
  ]
}

/** Returns true for a name with a DNS record that the owner of the server can change. */
function isOwnName({ hostname }: URL): boolean {
  const isIpAddress = hostname.startsWith('[') || /^[\d.]+$/.test(hostname)
  return !isIpAddress && !LOCAL.test(hostname) && !HOSTED.test(hostname)
}

function changeOf(hosts: readonly string[], publicUrl: string): string {
  return `change the ping addresses of the jobs from ${hosts.join(', ')} to ${publicUrl}/ping/<uuid>`
}

function recordOf(named: readonly URL[], here: URL): string {
  const names = named.map(({ hostname }) => hostname).join(', ')
  const ports = named.flatMap(({ port }) => (port === '' || port === here.port ? [] : [port]))
  const forward = ports.length === 0 ? '' : `, and forward port ${ports.join(', ')} to it`
  return `to move the jobs without changing them, point the DNS record of ${names} to this server (${here.host})${forward}`
}

function rulesOf(named: readonly URL[], changed: string, publicUrl: string): string[] {
  const names = named.map(({ host }) => host).join(', ')
  const prefix = new URL(changed).pathname.replace(/[^/]*$/, '')
  // Caddy accepts no path in the address of a server.
  const { origin, pathname } = new URL(`${publicUrl}/ping`)
  return [
    `change the ping addresses of the jobs; or, if you control DNS and TLS of ${names}, add one of these proxy rules there`,
    `nginx: location ${prefix} { proxy_pass ${publicUrl}/ping/; }`,
    [
      'Caddy:',
      `handle_path ${prefix}* {`,
      `  rewrite * ${pathname}{uri}`,
      `  reverse_proxy ${origin} {`,
      '    header_up Host {upstream_hostport}',
      '  }',
      '}',
    ].join('\n'),
  ]
}
