import { lookup } from 'node:dns/promises'
import type { Knex } from 'knex'
import { ValidationError } from '../../errors.ts'
import type { FieldCode } from '../../field-codes.ts'
import { checkTarget, type Resolve, targetCode, targetProblemTexts } from '../../platform/http/target-policy.ts'
import type { Config } from '../../platform/process/config.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import { fieldErrors } from '../../validation.ts'
import type { IntegrationKind } from '../integrations/kind.ts'
import { findKind, integrationKinds } from '../integrations/kinds.ts'
import type { ConfigObject } from '../integrations/shown-config.ts'
import { listIntegrations, type StoredIntegration } from '../integrations/store.ts'

export interface ConfigRules {
  db: Knex
  config: Pick<Config, 'allowPrivateTargets' | 'shellEnabled'>
  resolve?: Resolve
}

export function requireKind(name: unknown): IntegrationKind {
  const kind = typeof name === 'string' ? findKind(name) : undefined
  if (!kind) {
    throw fault('kind', 'UNKNOWN_VALUE', `must be one of ${[...integrationKinds.keys()].join(', ')}`)
  }
  return kind
}

/**
 * URLs must pass the target policy, members of a group must be integrations of the project, and commands must be
 * enabled by the operator. @throws ValidationError for the first invalid member
 */
export async function checkConfig(
  rules: ConfigRules,
  projectId: number,
  kind: IntegrationKind,
  input: unknown,
): Promise<ConfigObject> {
  if (kind.kind === 'shell' && !rules.config.shellEnabled) {
    const message = 'is not enabled by the operator of this service'
    throw fault('kind', 'NOT_PERMITTED', message)
  }
  const parsed = kind.parse(input)
  if (!parsed.ok) {
    const faults = parsed.faults.map((fault) => ({ ...fault, path: `config.${fault.path}`.replace(/\.$/, '') }))
    const errors = fieldErrors(faults, 'config')
    throw new ValidationError(errors[0]?.message ?? 'config is not valid', errors)
  }
  const config = asObject(parsed.config)
  for (const target of kind.targetsOf(config)) await checkReachable(rules, target)
  if (kind.kind === 'group') await checkMembers(rules.db, projectId, config.channels)
  return config
}

/** One line of at most 100 characters, may be empty. */
export function checkName(name: unknown): string {
  const isText = typeof name === 'string' && name.isWellFormed() && !/\p{Cc}/u.test(name)
  if (!isText) throw fault('name', 'TYPE', 'must be a string of one line')
  if ([...name].length > 100) throw fault('name', 'TOO_LARGE', 'must have at most 100 characters')
  return name
}

export function decryptConfig(integration: Pick<StoredIntegration, 'sealedConfig'>, secrets: Secrets): ConfigObject {
  return asObject(JSON.parse(secrets.open('integration', integration.sealedConfig)))
}

/** Returns true for an integration that an import created without settings. It is switched off until it has them. */
export function needsSettings(
  integration: Pick<StoredIntegration, 'kind' | 'sealedConfig' | 'disabledAt'>,
  secrets: Secrets,
): boolean {
  if (integration.disabledAt === null) return false
  const kind = findKind(integration.kind)
  return kind !== undefined && !kind.parse(decryptConfig(integration, secrets)).ok
}

async function checkReachable(rules: ConfigRules, target: string): Promise<void> {
  const policy = { allowPrivate: rules.config.allowPrivateTargets, plainHttp: 'anywhere' } as const
  const result = await checkTarget(target, policy, rules.resolve ?? resolveAll)
  // A name that does not resolve now may do so later; every connection checks the address again.
  if (result.ok || result.reason === 'unresolvable') return
  throw fault('config', targetCode(result.reason), `has a URL that ${targetProblemTexts[result.reason]}`)
}

async function resolveAll(name: string): Promise<string[]> {
  const found = await lookup(name, { all: true })
  return found.map(({ address }) => address)
}

async function checkMembers(db: Knex, projectId: number, members: unknown): Promise<void> {
  const others = (await listIntegrations(db, projectId)).filter(({ kind }) => kind !== 'group')
  const known = new Set(others.map(({ uuid }) => uuid))
  if (Array.isArray(members) && members.every((member) => known.has(member))) return
  throw fault('config.channels', 'NOT_FOUND', 'must be ids of integrations of the project that are not groups')
}

function fault(path: string, code: FieldCode, problem: string): ValidationError {
  const message = `${path} ${problem}`
  return new ValidationError(message, [{ path, code, message }])
}

function asObject(value: unknown): ConfigObject {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
