import type { IntegrationKind } from '#shared/monitoring/integrations/kind.ts'
import { findKind } from '#shared/monitoring/integrations/kinds.ts'
import type { ConfigObject } from '#shared/monitoring/integrations/shown-config.ts'
import { type OptionField, optionFields } from './fields.ts'

/** Returns the identifier of an unknown kind. */
export function labelOfKind(kind: string): string {
  return findKind(kind)?.label ?? kind
}

/**
 * Returns all errors by option, because the operation reports only the first. Errors without a field remain in its
 * message.
 * @param isNew true if an empty secret is an error; otherwise the stored secret applies
 */
export function fieldErrors(kind: IntegrationKind, config: ConfigObject, isNew: boolean): ReadonlyMap<string, string> {
  const errors = new Map<string, string>()
  const read = kind.parse(config)
  if (read.ok) return errors
  const fields = optionFields(kind)
  for (const { path, problem } of read.faults) {
    const [name = ''] = path.split(/[.[]/)
    const field = fields.find((one) => one.name === name)
    if (!field || errors.has(name)) continue
    const isEmpty = config[name] === undefined
    if (isEmpty && field.isSecret && !isNew) continue
    errors.set(name, asText(field, problem, isEmpty))
  }
  return errors
}

function asText(field: OptionField, problem: string, isEmpty: boolean): string {
  if (problem === 'is required without url_up') return 'Give an address, here or for recoveries.'
  if (field.type === 'integrations') return 'Choose at least one integration, each once.'
  if (isEmpty || problem === 'is required') return 'This is needed.'
  if (field.type === 'headers') return 'Each line is a header: a name, a colon and a value. At most 1,000 characters.'
  if (field.type === 'choice') return `Choose one of ${field.choices.join(', ')}.`
  const [, limit = ''] = /^must be (at (?:most|least) -?\d+)$/.exec(problem) ?? []
  const text = limit === '' ? problem : limit
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
