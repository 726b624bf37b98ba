import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { databaseUrl, withClient } from '../../stack/database-admin.ts'
import { postgresServer } from './services.ts'

/** A separate database without a schema. */
export async function emptyDatabase(): Promise<{ url: string } & AsyncDisposable> {
  const server = await postgresServer()
  const name = `signalbox_test_${randomBytes(6).toString('hex')}`
  await withClient(server, (client) => client.query(`create database ${pg.escapeIdentifier(name)}`))
  return {
    url: databaseUrl(server, name),
    async [Symbol.asyncDispose]() {
      await withClient(server, (client) => client.query(`drop database ${pg.escapeIdentifier(name)} with (force)`))
    },
  }
}
