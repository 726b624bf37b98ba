// knex exports its PostgreSQL dialect only by this path, and without types.
declare module 'knex/lib/dialects/postgres/index.js' {
  import type { Knex } from 'knex'

  export default class PostgresClient extends Knex.Client {
    _query(connection: unknown, query: object): Promise<unknown>
  }
}
