import { text } from 'node:stream/consumers'
import type { Knex } from 'knex'
import type { ApiEnv } from '#shared/environment.ts'
import type { Outbox } from '#shared/platform/broker/outbox.ts'
import { insertMessages } from '#shared/platform/broker/outbox-store.ts'
import { transaction } from '#shared/platform/database/db.ts'
import { CommandLineError } from '#shared/platform/process/command-line.ts'
import type { Config } from '#shared/platform/process/config.ts'
import type { Log } from '#shared/platform/process/log.ts'
import type { Secrets } from '#shared/platform/process/secrets.ts'
import type { Actor } from '#shared/tenancy/actor.ts'

/** Resources of a command, closed after it. A command that needs the broker connects itself. */
export interface AdminContext {
  config: Config
  db: Knex
  secrets: Secrets
  log: Log
  /** name of the operating system's user, for the audit */
  actor: string
}

/** Returns the user of the operating system as the actor of an operation and of its audit entry. */
export function operatorOf({ actor }: Pick<AdminContext, 'actor'>): Actor {
  return { kind: 'operator', name: actor }
}

/** Stores messages without a connection to the broker. The sweeper publishes them. */
export function storedOutbox(db: Knex): Pick<Outbox, 'run'> {
  return {
    run: (work) =>
      transaction(db, (tx) =>
        work(tx, async (message, payload) => {
          await insertMessages(tx, [{ message, payload }])
        }),
      ),
  }
}

interface Option {
  description: string
  /** shown in the help; absent for a switch, which takes no value */
  value?: string
  required?: true
}

/** Values of a command line by the name of the option; switches are `true`. */
export type Options = Readonly<Record<string, string | true | undefined>>

export interface Output {
  json: unknown
  text: string
  /** the command found a problem: exit status 1 */
  failed?: boolean
  /** conflicts were found, and the objects in conflict were not changed: exit status 3 */
  conflicts?: boolean
  /** printed to standard error */
  warnings?: readonly string[]
}

/**
 * A command of the operator: `admin <noun> [<verb>] --option value`. A new one needs a file here and a line in
 * registry.ts.
 */
export interface Command {
  noun: string
  /** absent if the noun is sufficient */
  verb?: string
  summary: string
  /** printed after the options */
  help?: readonly string[]
  /** command lines without `npm run -s admin --`; default: the usage line alone */
  examples?: readonly string[]
  options: Readonly<Record<string, Option>>
  run(options: Options, context: AdminContext): Promise<Output>
}

/** A command that works without any setting or server. */
export interface OfflineCommand extends Omit<Command, 'run'> {
  offline: true
  run(options: Options): Promise<Output>
}

/** Invalid usage by the operator; printed without a stack, exit status 2. */
export class UsageError extends CommandLineError {}

/** For required options. @throws UsageError if the option is missing */
export function textOf(options: Options, name: string): string {
  const value = options[name]
  if (typeof value !== 'string' || value === '') throw new UsageError(`--${name} is missing`)
  return value
}

/**
 * Reads a secret option; `-` means standard input, because every user of the machine sees a command line.
 * @throws UsageError if it is missing, or standard input is empty
 */
export async function secretOf(options: Options, name: string): Promise<string> {
  const value = textOf(options, name)
  if (value !== '-') return value
  const read = (await text(process.stdin)).replace(/\r?\n$/, '')
  if (read === '') throw new UsageError(`--${name} - needs the value at standard input`)
  return read
}

/**
 * Reads a JSON object, which may hold secrets, as `secretOf` does.
 * @throws UsageError if it is missing or not a JSON object
 */
export async function jsonObjectOf(options: Options, name: string): Promise<Readonly<Record<string, unknown>>> {
  const written = await secretOf(options, name)
  try {
    const value: unknown = JSON.parse(written)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Reported below.
  }
  throw new UsageError(`--${name} is not a JSON object; - reads it from standard input`)
}

export const envOption = { description: 'SANDBOX or PRODUCTION', value: 'ENV', required: true } as const

/** @throws UsageError */
export function envOf(options: Options): ApiEnv {
  const value = textOf(options, 'env')
  if (value !== 'SANDBOX' && value !== 'PRODUCTION') throw new UsageError('--env must be SANDBOX or PRODUCTION')
  return value
}

/** Returns null without the option. */
export function numberOf(options: Options, name: string): number | null {
  const value = options[name]
  if (value === undefined) return null
  if (typeof value !== 'string' || !/^\d{1,9}$/.test(value))
    throw new UsageError(`--${name} must be a whole number, not "${value}"`)
  return Number(value)
}

/** Returns a list with one line per row. `partsOf` returns the parts of a line; empty ones are left out. */
export function listing<T>(rows: readonly T[], partsOf: (row: T) => readonly string[]): Output {
  const text = rows.map((row) =>
    partsOf(row)
      .filter((part) => part !== '')
      .join('  '),
  )
  return { json: rows, text: text.join('\n') }
}

/** Formats one field per line, without those that are null. */
export function lines(fields: Readonly<Record<string, unknown>>): string {
  const stated = Object.entries(fields).filter(([, value]) => value !== null)
  const width = Math.max(...stated.map(([name]) => name.length))
  return stated.map(([name, value]) => `${name.padEnd(width)}  ${String(value)}`).join('\n')
}

/** `1 check`, `2 checks` */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`
}

export interface Finding {
  what: string
  ok: boolean
  /** true if it works, but with a risk that the operator should know; then `ok` is true */
  isRisk?: boolean
  /** the finding, and its remedy if it is a problem */
  text: string
}

/** Formats one finding per line. */
export function findingLines(findings: readonly Finding[]): string[] {
  return findings.map(
    ({ what, ok, isRisk, text }) => `${ok ? (isRisk ? 'warn ' : 'ok   ') : 'WRONG'}  ${what}: ${text}`,
  )
}
