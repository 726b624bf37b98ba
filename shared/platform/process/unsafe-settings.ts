import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { splitHosts } from '../database/hosts.ts'

export interface SettingInput {
  text: string
  file?: string | undefined
  secret: boolean
}

/** Passwords of manuals, images and examples: an attacker tries them first. */
const WELL_KNOWN = new Set(
  `admin administrator change-me change_me changeme default demo example guest letmein master pass passw0rd
  password password1 postgres qwerty rabbit rabbitmq root sa secret signalbox test toor user 123456 12345678 123456789`
    .split(/\s+/)
    .filter((word) => word !== ''),
)

/** A random key has more distinct characters than this; one of hexadecimal digits has only 16. */
const MIN_CHARACTERS = 16
const MIN_DIGITS = 10

/** Docker and compose mount secrets here; only the processes of the container can read them. */
const PRIVATE_MOUNT = '/run/secrets/'

/** Called if HOST is not a loopback address. One line per problem, without the value. */
export function unsafeSettings(host: string, given: ReadonlyMap<string, SettingInput>): string[] {
  if (isLoopback(host)) return []
  const problems: string[] = []
  for (const [name, { text, file, secret }] of given) {
    if (!secret) continue
    // The addresses of a cluster share the login.
    const first = name === 'AMQP_URL' ? text.split(',')[0] : name.startsWith('DATABASE_') ? splitHosts(text)[0] : text
    if (lacksPassword(first ?? text)) problems.push(`${name} has no password`)
    else if (hasWellKnownPassword(name, first ?? text)) problems.push(`${name} has a well-known password`)
    else if (/^SECRET_KEY/.test(name) && isWeakKey(text)) problems.push(`${name} has too few different characters`)
    if (file !== undefined && isOpenToOthers(resolve(file)))
      problems.push(`${name}_FILE is open to other users of this machine: chmod 600`)
  }
  return problems.map((problem) => `${problem}, which is refused where HOST is not a loopback address`)
}

export function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  return ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback'
}

/** Mail relays may need no login. A database without a host is a local socket, where the server knows the user. */
function lacksPassword(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.host === '' || url.password !== '') return false
  if (url.protocol === 'postgres:' || url.protocol === 'postgresql:') return true
  return /^(amqp|smtp)s?:$/.test(url.protocol) && url.username !== ''
}

function hasWellKnownPassword(name: string, text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.host === '') return WELL_KNOWN.has(text.toLowerCase()) || /change[-_ ]?me/i.test(text)
  // RabbitMQ's client uses guest with the password guest if the address has no login.
  if (name === 'AMQP_URL' && url.username === '') return true
  const password = decode(url.password)
  return password !== '' && (WELL_KNOWN.has(password.toLowerCase()) || password === decode(url.username))
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function isWeakKey(key: string): boolean {
  const different = new Set(key).size
  return different < (/^[0-9a-f]+$/i.test(key) ? MIN_DIGITS : MIN_CHARACTERS)
}

/** Other users also need access to every folder above. */
function isOpenToOthers(file: string): boolean {
  const mode = modeOf(file)
  if (mode & 0o002) return canPass(dirname(file))
  return Boolean(mode & 0o004) && !file.startsWith(PRIVATE_MOUNT) && canPass(dirname(file))
}

function canPass(folder: string): boolean {
  const parent = dirname(folder)
  return Boolean(modeOf(folder) & 0o001) && (parent === folder || canPass(parent))
}

/** Returns 0 if the path cannot be inspected; reading it gives a better error. */
function modeOf(path: string): number {
  try {
    return statSync(path).mode
  } catch {
    return 0
  }
}
