import { mapYielding } from '#shared/platform/process/time-slices.ts'
import { innerSchemas, type Operation, type Reference, resolve, type Schema, type Schemas } from './reference.ts'

export type Search = (query: string) => Promise<ReadonlySet<Operation>>

/** Returns a search for operations that contain each word of a query, in their texts or the names of their members. */
export function createSearch({ operations, schemas }: Reference): Search {
  let index: Promise<(readonly [Operation, string])[]> | undefined
  return async (query) => {
    const members = new Map<string, ReadonlySet<string>>()
    index ??= mapYielding(
      operations.values(),
      (operation) => [operation, searchText(operation, schemas, members)] as const,
    )
    const words = query.toLowerCase().split(/\s+/)
    const found = (await index).filter(([, text]) => words.every((word) => text.includes(word)))
    return new Set(found.map(([operation]) => operation))
  }
}

type Members = Map<string, ReadonlySet<string>>

function searchText(operation: Operation, schemas: Schemas, members: Members): string {
  const {
    method,
    path,
    tag,
    operationId,
    summary,
    description = '',
    parameters = [],
    requestBody,
    responses,
  } = operation
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  const contents = [requestBody?.content ?? {}, ...successes.map(([, { content = {} }]) => content)]
  const names = contents.flatMap((content) =>
    Object.values(content).flatMap(({ schema }) => [...membersOf(schema, schemas, members)]),
  )
  const texts = parameters.flatMap((parameter) => [parameter.name, parameter.description ?? ''])
  return [method, path, tag, operationId, summary, description, ...texts, ...new Set(names)].join(' ').toLowerCase()
}

/** Returns the names of a schema and of all its members. @param known by name of the schema, extended by this call */
function membersOf(schema: Schema, schemas: Schemas, known: Members): ReadonlySet<string> {
  const { schema: target, name = '' } = resolve(schema, schemas)
  const cached = known.get(name)
  if (cached) return cached
  const members = new Set<string>(name === '' ? [] : [name])
  // A schema may contain itself.
  if (name !== '') known.set(name, members)
  for (const [member, nested] of Object.entries(target.properties ?? {})) {
    members.add(member)
    for (const inner of membersOf(nested, schemas, known)) members.add(inner)
  }
  for (const nested of innerSchemas(target)) for (const inner of membersOf(nested, schemas, known)) members.add(inner)
  return members
}
