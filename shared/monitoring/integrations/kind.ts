import type { z } from 'zod'
import { checkValue, type Fault } from '../../validation.ts'

/** The two directions in which a check changes. */
export type Status = 'up' | 'down'

type ConfigResult<Config> = { ok: true; config: Config } | { ok: false; faults: Fault[] }

/**
 * A kind of integration as its owner sees it: what it is called and what it must be told. How it sends is a transport
 * of the same name. Configurations are JSON objects; what `parse` returns is what is stored, and parses again to itself.
 */
export interface IntegrationKind<Config = unknown> {
  /** identifier in the API, the command line and the database (docs/spec/monitoring.md#integration-kinds) */
  readonly kind: string
  readonly label: string
  /** one sentence for the catalogue */
  readonly about: string
  /** name of the service's mark in simple-icons; absent if there is none or its licence does not allow it */
  readonly mark?: string
  /** members that are written and never shown again */
  readonly secretFields: readonly string[]
  /** one line per option, for `--help` and the manual */
  readonly help: readonly string[]
  /** what `parse` goes by; forms are made from it */
  readonly schema: z.ZodType
  parse(config: unknown): ConfigResult<Config>
  /** whether this change is nothing to this integration: then nothing is sent and nothing is logged */
  isNoop(config: unknown, status: Status): boolean
  /** who is protected from floods (`shared/monitoring/notifications/limits.ts`); null when nobody is, or it cannot be told */
  recipientOf(config: unknown): string | null
  /** URLs that requests will go to, to be checked by the target policy before they are stored */
  targetsOf(config: unknown): readonly string[]
  /** the URL that a secret member is sent to; empty when the kind's own service is its only reader, or nobody is */
  readerOf(config: unknown, secret: string): string
}

interface KindSpec<Schema extends z.ZodType> {
  kind: string
  label: string
  about: string
  mark?: string
  schema: Schema
  secretFields?: readonly string[]
  help: readonly string[]
  isNoop?(config: z.output<Schema>, status: Status): boolean
  recipientOf?(config: z.output<Schema>): string
  targetsOf?(config: z.output<Schema>): readonly string[]
  /** needed when not every secret goes to the first target */
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
    ...(spec.mark !== undefined && { mark: spec.mark }),
    secretFields: spec.secretFields ?? [],
    help: spec.help,
    schema: spec.schema,
    parse,
    // A configuration that cannot be read is not "nothing to do": the attempt must fail where its owner sees it.
    isNoop: (config, status) => whenValid(config, false, (valid) => spec.isNoop?.(valid, status) ?? false),
    recipientOf: (config) => whenValid(config, null, (valid): string | null => spec.recipientOf?.(valid) ?? null),
    targetsOf: (config) => whenValid(config, [], (valid): readonly string[] => spec.targetsOf?.(valid) ?? []),
    readerOf: (config, secret) =>
      whenValid(config, '', (valid) => spec.readerOf?.(valid, secret) ?? spec.targetsOf?.(valid)[0] ?? ''),
  }
}
