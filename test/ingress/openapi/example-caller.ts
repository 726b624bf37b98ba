import { openApiText } from '../../../ingress/admin/generate.ts'
import { readReference, resolve, type Schema } from '../../../ingress/web/docs/reference.ts'
import { send } from '../../support/platform-client.ts'

/** Examples by name of a schema, or by id of an operation. */
export type Examples = Record<string, unknown>

interface Call {
  params?: Readonly<Record<string, string | number>>
  query?: string
  /** by default the body that the reference shows */
  body?: unknown
  /** stores an example of this operation, because its schema has no name, or other operations show another state */
  isOwn?: boolean
  /** value of the header Prefer */
  prefer?: string
}

// biome-ignore lint/suspicious/noExplicitAny: the response of any operation
export type Caller = (id: string, call?: Call) => Promise<any>

const reference = readReference(openApiText())

/** Returns callers that call operations by their ids, and store the responses as examples. */
export function callerOf(base: string, examples: Examples): (credentials: Record<string, string>) => Caller {
  return (credentials) =>
    async (id, call = {}) => {
      const { params = {}, query = '', body, isOwn = false, prefer = 'wait=25' } = call
      const operation = reference.operations.get(id)
      if (!operation) throw new Error(`no operation ${id}`)
      const { method, parameters = [], requestBody, responses } = operation
      const [type = '', content] = Object.entries(requestBody?.content ?? {})[0] ?? []
      const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
        String(params[name] ?? parameters.find((one) => one.name === name)?.schema.examples?.[0]),
      )
      const sent = body ?? content?.example
      const answer = await send(`${base}${path}${query}`, {
        method: method.toUpperCase(),
        headers: {
          ...credentials,
          prefer,
          ...(method === 'post' && { 'content-type': type, 'x-idempotency-key': crypto.randomUUID() }),
        },
        ...(sent !== undefined && { body: typeof sent === 'string' ? sent : JSON.stringify(sent) }),
      })
      const schema = responses[answer.status]?.content?.['application/json']?.schema
      if (answer.status >= 300) throw new Error(`${id}: ${answer.status} ${answer.text}`)
      learn(schema, answer.json, examples)
      if (isOwn) examples[id] = answer.json
      return answer.json
    }
}

/** Stores a value for each named schema that it contains: of a list the first one, of several responses the last one. */
function learn(schema: Schema | undefined, value: unknown, examples: Examples): void {
  if (!schema || typeof value !== 'object' || value === null) return
  const { schema: target, name } = resolve(schema, reference.schemas)
  if (name !== undefined) examples[name] = value
  const alternatives = [...(target.anyOf ?? []), ...(target.oneOf ?? [])]
  const isComplete = (one: Schema) =>
    (resolve(one, reference.schemas).schema.required ?? []).every((member) => member in value)
  learn(alternatives.find(isComplete), value, examples)
  if (Array.isArray(value)) for (const item of value.toReversed()) learn(target.items, item, examples)
  for (const [member, inner] of Object.entries(value)) learn(target.properties?.[member], inner, examples)
}
