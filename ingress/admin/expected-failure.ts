import { databaseFailure } from '#shared/platform/database/error-class.ts'

/** SQLSTATEs of a database that cannot serve, and of one whose schema has another version. */
const DATABASE_AWAY = /^(08|28|3D|53|57P0)/
const OTHER_SCHEMA = /^(42P01|42703)$/
const NETWORK = /^(ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|ECONN[A-Z]+|E(HOST|NET)UNREACH)$/
const FILES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be opened by this user',
  EPERM: 'may not be changed by this user',
  EISDIR: 'is a folder',
  ENOTDIR: 'is not a folder',
  ENOSPC: 'has no space left',
}

/** Returns one line about a server or file that cannot be used; null for an error of the program, which needs a stack. */
export function expectedFailure(error: unknown): string | null {
  const root = rootOf(error)
  if (!(root instanceof Error)) return null
  const { code, path, address, hostname, port } = membersOf(root)
  if (OTHER_SCHEMA.test(code)) return 'the database has another schema than this version: run npm run -s migrate'
  if (root.name === 'KnexTimeoutError' || DATABASE_AWAY.test(code))
    return `the database ${databaseFailure(root)}: check DATABASE_URL, or run doctor`
  if (path !== '' && FILES[code] !== undefined) return `${path} ${FILES[code]}`
  const server = [address || hostname, port].filter((part) => part !== '').join(':') || 'a server'
  if (NETWORK.test(code)) return `${server} cannot be reached (${code}): run doctor to see which server that is`
  // The AMQP driver gives its errors no code.
  if (/^(Handshake terminated|Socket closed abruptly|connect ETIMEDOUT|Unexpected close)/.test(root.message))
    return `the broker refuses the connection (${root.message}): check AMQP_URL, or run doctor`
  return null
}

/** A host with several addresses fails with an AggregateError; `fetch` and our own errors wrap theirs. */
function rootOf(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0])
  return error instanceof Error && error.cause instanceof Error ? rootOf(error.cause) : error
}

function membersOf(error: Error) {
  const textOf = (name: string): string => {
    const value: unknown = Reflect.get(error, name)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  }
  return {
    code: textOf('code'),
    path: textOf('path'),
    address: textOf('address'),
    hostname: textOf('hostname'),
    port: textOf('port'),
  }
}
