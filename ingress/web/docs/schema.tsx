import type { ComponentChildren } from 'preact'
import { innerSchemas, resolve, type Schema, type Schemas } from './reference.ts'

/** State of one page: a named schema is shown where it is used first, and linked from the other places. */
export interface SchemaScope {
  schemas: Schemas
  shown: Set<string>
}

export function SchemaView({ schema, scope, isOpen }: { schema: Schema; scope: SchemaScope; isOpen: boolean }) {
  return (
    <>
      <p>
        <span class="muted">{typeOf(schema, scope.schemas)}</span>
      </p>
      <Nested schema={schema} scope={scope} isOpen={isOpen} />
    </>
  )
}

interface MemberProps {
  name: string
  schema: Schema
  scope: SchemaScope
  isRequired: boolean
  description?: string
  /** for example `query` */
  place?: string
}

export function Member({ name, schema, scope, isRequired, description = schema.description, place }: MemberProps) {
  const { schema: target } = resolve(schema, scope.schemas)
  const text = description ?? target.description
  return (
    <li>
      <p>
        <code>{name}</code>{' '}
        <span class="muted">
          {place && `${place}, `}
          {typeOf(schema, scope.schemas)}
        </span>
        {isRequired && (
          <>
            {' '}
            <b>required</b>
          </>
        )}
      </p>
      {text !== undefined && <p>{withCode(text)}</p>}
      <Nested schema={schema} scope={scope} isOpen={false} label={name} />
    </li>
  )
}

interface NestedProps {
  schema: Schema
  scope: SchemaScope
  isOpen: boolean
  /** names an object whose schema has no name */
  label?: string
}

/** Shows the members of all objects in a schema. */
function Nested({ schema, scope, isOpen, label = 'the object' }: NestedProps) {
  const { schema: target, name } = resolve(schema, scope.schemas)
  const members = Object.entries(target.properties ?? {})
  const inner = innerSchemas(target)
  if (members.length === 0)
    return inner.map((one, index) => <Nested key={index} {...{ schema: one, scope, isOpen, label }} />)
  if (name !== undefined && scope.shown.has(name)) {
    return (
      <p>
        <a href={`#schema-${name}`}>Members of {name}</a>
      </p>
    )
  }
  if (name !== undefined) scope.shown.add(name)
  return (
    <details open={isOpen} id={name && `schema-${name}`}>
      <summary>Members of {name ?? label}</summary>
      <ul class="docs-members">
        {members.map(([member, nested]) => (
          <Member
            key={member}
            name={member}
            schema={nested}
            scope={scope}
            isRequired={target.required?.includes(member) ?? false}
          />
        ))}
      </ul>
    </details>
  )
}

/** Returns the type of a schema with its limits as text, for example `list of string (uuid), at most 20 items`. */
function typeOf(schema: Schema, schemas: Schemas): string {
  const { schema: target, name } = resolve(schema, schemas)
  const limits = limitsOf(target)
  return [name !== undefined && target.properties ? name : baseOf(target, schemas), ...limits].join(', ')
}

function baseOf(schema: Schema, schemas: Schemas): string {
  const { anyOf, oneOf, type = 'any value', format, items, additionalProperties } = schema
  const alternatives = anyOf ?? oneOf
  if (alternatives) return [...new Set(alternatives.map((one) => typeOf(one, schemas)))].join(' or ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (items) return `list of ${typeOf(items, schemas)}`
  if (typeof additionalProperties === 'object' && additionalProperties.type) {
    return `map of ${typeOf(additionalProperties, schemas)}`
  }
  const base = [type].flat().join(' or ')
  return format === undefined ? base : `${base} (${format})`
}

/** Longer patterns repeat the format or the description. */
const MAX_PATTERN_LENGTH = 40

function limitsOf(schema: Schema): string[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, pattern, format } = schema
  const isShown = pattern !== undefined && format === undefined && pattern.length <= MAX_PATTERN_LENGTH
  return [
    ...rangeText(minimum, maximum, ''),
    ...rangeText(minLength, maxLength, ' characters'),
    ...rangeText(minItems, maxItems, ' items'),
    ...(isShown ? [pattern] : []),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ]
}

function rangeText(min: number | undefined, max: number | undefined, unit: string): string[] {
  if (min !== undefined && max !== undefined) return [`${min} to ${max}${unit}`]
  if (max !== undefined) return [`at most ${max}${unit}`]
  return min === undefined ? [] : [`at least ${min}${unit}`]
}

/** Renders text between backticks as code. */
export function withCode(text: string): ComponentChildren {
  return text.split('`').map((part, index) => (index % 2 === 1 ? <code key={`${index} ${part}`}>{part}</code> : part))
}
