import type { Connection, Submittable } from 'pg'
import pg from 'pg'
import { parameterOf } from './parameters.ts'
import type { SqlValue, Statement } from './sql.ts'

/** A statement that each connection parses once. The parameters in `text` are `$1`, `$2`, ... */
export interface Prepared<Row = unknown> {
  name: string
  text: Statement<Row>
}

export interface Result {
  rows: Record<string, unknown>[]
  rowCount: number | null
}

export interface Step {
  statement: Prepared
  values: readonly SqlValue[]
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

interface Field {
  name: string
  parse: (value: string) => unknown
}

const parsedOn = new WeakMap<Connection, Map<string, Field[]>>()

/**
 * Sends several statements in one round trip; if one fails, the server skips the later ones. The driver supports one
 * statement per round trip, so it receives them as a single custom query. @see https://www.postgresql.org/docs/current/protocol-flow.html#PROTOCOL-FLOW-EXT-QUERY
 */
export class RoundTrip implements Submittable {
  readonly #steps: readonly Step[]
  readonly #isNamed: boolean
  readonly #results: Result[]
  #fields: (Field[] | undefined)[] = []
  #at = 0
  #known = new Map<string, Field[]>()
  callback: (error: unknown) => void

  /** @param isNamed false for a connection of a pooler, whose next query may use another server */
  constructor(steps: readonly Step[], isNamed = true) {
    this.#steps = steps
    this.#isNamed = isNamed
    this.#results = steps.map(() => ({ rows: [], rowCount: null }))
    this.callback = (error) => this.#settle(error)
  }

  submit(connection: Connection): void {
    if (this.#isNamed) {
      this.#known = parsedOn.get(connection) ?? new Map()
      parsedOn.set(connection, this.#known)
    }
    const { stream } = connection
    stream.cork()
    try {
      for (const { statement, values } of this.#steps) this.#send(connection, statement, values)
    } finally {
      connection.sync()
      stream.uncork()
    }
  }

  #send(connection: Connection, { name, text }: Prepared, values: readonly SqlValue[]): void {
    const fields = this.#known.get(name)
    const statement = this.#isNamed ? name : ''
    this.#fields.push(fields)
    if (fields === undefined) {
      // A failed round trip may have parsed the statement. Closing a missing one is not an error.
      if (this.#isNamed) connection.close({ type: 'S', name }, true)
      connection.parse({ name: statement, text, types: [] }, true)
    }
    connection.bind({ statement, values: values.map(parameterOf) }, true)
    if (fields === undefined) connection.describe({ type: 'P' }, true)
    connection.execute({}, true)
  }

  handleRowDescription({ fields }: { fields: { name: string; dataTypeID: number }[] }): void {
    this.#fields[this.#at] = fields.map(({ name, dataTypeID }) => ({
      name,
      parse: pg.types.getTypeParser(dataTypeID, 'text'),
    }))
  }

  handleDataRow({ fields: values }: { fields: (string | null)[] }): void {
    const row: Record<string, unknown> = {}
    const fields = this.#fields[this.#at] ?? []
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index]
      const value = values[index] ?? null
      if (field) row[field.name] = value === null ? null : field.parse(value)
    }
    this.#results[this.#at]?.rows.push(row)
  }

  handleCommandComplete({ text }: { text: string }): void {
    // The tag ends with the row count: INSERT 0 1, UPDATE 2, SELECT 3.
    const count = / (\d+)$/.exec(text)?.[1]
    const result = this.#results[this.#at]
    if (result && count !== undefined) result.rowCount = Number(count)
    const name = this.#steps[this.#at]?.statement.name
    if (name !== undefined && !this.#known.has(name)) this.#known.set(name, this.#fields[this.#at] ?? [])
    this.#at += 1
  }

  handleReadyForQuery(): void {
    this.callback(null)
  }

  handleError(error: unknown): void {
    this.callback(error)
  }

  #settle(error: unknown): void {
    for (const [index, step] of this.#steps.entries()) {
      const result = this.#results[index]
      if ((error === null || error === undefined) && result) step.resolve(result)
      else step.reject(error)
    }
  }
}
