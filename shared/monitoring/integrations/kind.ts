import type { z } from 'zod'
import { checkValue, type Fault } from '../../validation.ts'

export type Status = 'up' | 'down'

type ConfigResult<Config> = { ok: true; config: Config } | { ok: false; faults: Fault[] }

/** A transport of the same name sends. The result of `parse` is stored, and parses to itself again. */
export interface IntegrationKind<Config = unknown> {
  /** used in the API, the command line and the database (docs/spec/monitoring.md#integration-kinds) */
  readonly kind: string
  readonly label: string
  readonly about: string
  /** name of the logo in simple-icons; absent if it has none or its licence does not allow its use */
  readonly logo?: string
  readonly secretFields: readonly string[]
  readonly help: readonly string[]
  readonly schema: z.ZodType
  parse(config: unknown): ConfigResult<Config>
  isNoop(config: unknown, status: Status): boolean
  /** for the rate limit (notifications/limits.ts) */
  recipientOf(config: unknown): string | null
  /** must pass the target policy before they are stored */
  targetsOf(config: unknown): readonly string[]
  /** the URL that receives a secret member; empty if only the fixed service of the kind receives it */
  readerOf(config: unknown, secret: string): string
}

interface KindSpec<Schema extends z.ZodType> {
  kind: string
  label: string
  about: string
  logo?: string
  schema: Schema
  secretFields?: readonly string[]
  help: readonly string[]
  isNoop?(config: z.output<Schema>, status: Status): boolean
  recipientOf?(config: z.output<Schema>): string
  targetsOf?(config: z.output<Schema>): readonly string[]
  /** required if not every secret is sent to the first target */
  readerOf?(config: z.output<Schema>, secret: string): string
}

export function defineKind<Schema extends z.ZodType>(spec: KindSpec<Schema>): IntegrationKind<z.output<Schema>> {
  const parse = (config: unknown): ConfigResult<z.output<Schema>> => {
    const checked = checkValue(spec.schema, config)
    return checked.ok ? { ok: true, config: checked.value } : checked
  }
  const whenValid = <T>(config: unknown, otherwise: T, read: (config: z.output<Schema>) => T): T => {
    const parsed = parse(config)
    return parsed.ok ? read(parsed.config) : otherwise
  }
  return {
    kind: spec.kind,
    label: spec.label,
    about: spec.about,
    ...(spec.logo !== undefined && { logo: spec.logo }),
    secretFields: spec.secretFields ?? [],
    help: spec.help,
    schema: spec.schema,
    parse,
    // An invalid configuration must not be skipped: the failed attempt shows the error to its owner.
    isNoop: (config, status) => whenValid(config, false, (valid) => spec.isNoop?.(valid, status) ?? false),
    recipientOf: (config) => whenValid(config, null, (valid): string | null => spec.recipientOf?.(valid) ?? null),
    targetsOf: (config) => whenValid(config, [], (valid): readonly string[] => spec.targetsOf?.(valid) ?? []),
    readerOf: (config, secret) =>
      whenValid(config, '', (valid) => spec.readerOf?.(valid, secret) ?? spec.targetsOf?.(valid)[0] ?? ''),
  }
}
