import type { Knex } from 'knex'
import type { ApiEnv } from '../../environment.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Family } from '../oauth/families.ts'

export interface Organisation {
  id: number
  uuid: string
  name: string
}

const ORGANISATION_COLUMNS = columns<Organisation>({ id: 'id', uuid: 'uuid', name: 'name' })

/** The oldest of this name; created if there is none. */
export async function ensureOrganisation(tx: Knex.Transaction, name: string): Promise<Organisation> {
  // Names are not unique in the table; the lock lets two concurrent commands create only one organisation.
  await execute(tx, 'SELECT pg_advisory_xact_lock(hashtextextended(?, 7))', [name])
  const sql = typed`SELECT ${ORGANISATION_COLUMNS} FROM organisations WHERE name = ? ORDER BY id LIMIT 1`
  const rows = await query(tx, sql, [name])
  if (rows[0]) return rows[0]
  return await insertOrganisation(tx, name)
}

/** Names need not be unique. */
export async function insertOrganisation(tx: Knex, name: string): Promise<Organisation> {
  const sql = typed`INSERT INTO organisations (name) VALUES (?) RETURNING ${ORGANISATION_COLUMNS}`
  const rows = await query(tx, sql, [name])
  const [organisation] = rows
  if (!organisation) throw new Error('the organisation was not stored')
  return organisation
}

export async function renameOrganisation(tx: Knex, id: number, name: string): Promise<void> {
  await execute(tx, 'UPDATE organisations SET name = ? WHERE id = ?', [name, id])
}

interface ListedOrganisation {
  organisationId: string
  name: string
  people: number
  projects: number
}

const LISTED_COLUMNS = columns<ListedOrganisation>()(`
  o.uuid AS organisationId, o.name, (SELECT count(*) FROM memberships m WHERE m.organisation_id = o.id) AS people,
  (SELECT count(*) FROM projects p WHERE p.organisation_id = o.id) AS projects`)

export async function listOrganisations(db: Knex): Promise<ListedOrganisation[]> {
  return await query(db, typed`SELECT ${LISTED_COLUMNS} FROM organisations o ORDER BY o.name, o.id`)
}

export async function findOrganisation(db: Knex, uuid: string): Promise<Organisation | undefined> {
  const rows = await query(db, typed`SELECT ${ORGANISATION_COLUMNS} FROM organisations WHERE uuid = ?`, [uuid])
  return rows[0]
}

export async function findOrganisationName(db: Knex, id: number): Promise<string | undefined> {
  const [row] = await query<{ name: string }>(db, 'SELECT name FROM organisations WHERE id = ?', [id])
  return row?.name
}

/** Existing entitlements do not change. */
export async function grantFamilies(db: Knex, organisationId: number, families: readonly string[]): Promise<void> {
  await execute(
    db,
    `INSERT INTO organisation_families (organisation_id, family)
     SELECT ?, family FROM unnest(?::text[]) AS t(family) ON CONFLICT DO NOTHING`,
    [organisationId, [...families]],
  )
}

/** Every token of the organisation loses them within seconds. */
export async function revokeFamilies(db: Knex, organisationId: number, families: readonly string[]): Promise<void> {
  await execute(db, 'DELETE FROM organisation_families WHERE organisation_id = ? AND family = ANY(?)', [
    organisationId,
    [...families],
  ])
}

/** Owners cannot grant withheld families. */
export async function withholdFamilies(tx: Knex, organisationId: number, families: readonly string[]): Promise<void> {
  await execute(
    tx,
    `INSERT INTO withheld_families (organisation_id, family)
     SELECT ?, family FROM unnest(?::text[]) AS t(family) ON CONFLICT DO NOTHING`,
    [organisationId, [...families]],
  )
}

export async function releaseFamilies(tx: Knex, organisationId: number, families: readonly string[]): Promise<void> {
  const sql = 'DELETE FROM withheld_families WHERE organisation_id = ? AND family = ANY(?)'
  await execute(tx, sql, [organisationId, [...families]])
}

export async function listWithheldFamilies(db: Knex, organisationId: number): Promise<string[]> {
  const sql = 'SELECT family FROM withheld_families WHERE organisation_id = ?'
  return (await query<{ family: string }>(db, sql, [organisationId])).map(({ family }) => family)
}

export interface NewClient {
  clientId: string
  organisationId: number
  name: string
  env: ApiEnv
  scopes: readonly string[]
  secret: { prefix: string; digest: Buffer }
}

export async function insertClient(tx: Knex.Transaction, client: NewClient): Promise<number> {
  const rows = await query<{ id: number }>(
    tx,
    'INSERT INTO clients (client_id, organisation_id, name, env, scopes) VALUES (?, ?, ?, ?, ?) RETURNING id',
    [client.clientId, client.organisationId, client.name, client.env, [...client.scopes]],
  )
  const id = rows[0]?.id
  if (id === undefined) throw new Error('the client was not stored')
  await insertSecret(tx, id, client.secret)
  return id
}

async function insertSecret(tx: Knex.Transaction, id: number, secret: NewClient['secret']): Promise<void> {
  const sql = 'INSERT INTO client_secrets (client_id, prefix, digest) VALUES (?, ?, ?)'
  await execute(tx, sql, [id, secret.prefix, secret.digest])
}

/** Revokes all earlier secrets except the newest, so that two are active. Returns false if there is no such client. */
export async function rotateSecret(
  tx: Knex.Transaction,
  clientId: string,
  secret: { prefix: string; digest: Buffer },
): Promise<boolean> {
  const rows = await query<{ id: number }>(tx, 'SELECT id FROM clients WHERE client_id = ? FOR UPDATE', [clientId])
  const id = rows[0]?.id
  if (id === undefined) return false
  await execute(
    tx,
    `UPDATE client_secrets SET revoked_at = now() WHERE client_id = ? AND revoked_at IS NULL
     AND id < (SELECT max(id) FROM client_secrets WHERE client_id = ? AND revoked_at IS NULL)`,
    [id, id],
  )
  await insertSecret(tx, id, secret)
  return true
}

export async function findOrganisationOfClient(db: Knex, clientId: string): Promise<number | null> {
  const [row] = await query<{ id: number }>(db, 'SELECT organisation_id AS id FROM clients WHERE client_id = ?', [
    clientId,
  ])
  return row?.id ?? null
}

/** Returns false if missing, or disabled by the operator. */
export async function setClientDisabled(db: Knex, clientId: string, isDisabled: boolean): Promise<boolean> {
  const rowCount = await execute(
    db,
    isDisabled
      ? 'UPDATE clients SET disabled_at = coalesce(disabled_at, now()) WHERE client_id = ?'
      : 'UPDATE clients SET disabled_at = NULL WHERE client_id = ? AND NOT disabled_by_operator',
    [clientId],
  )
  return rowCount > 0
}

export async function setClientDisabledByOperator(db: Knex, clientId: string, isDisabled: boolean): Promise<void> {
  const disabledAt = isDisabled ? 'coalesce(disabled_at, now())' : 'NULL'
  const sql = `UPDATE clients SET disabled_by_operator = ?, disabled_at = ${disabledAt} WHERE client_id = ?`
  await execute(db, sql, [isDisabled, clientId])
}

export interface ClientListing {
  clientId: string
  name: string
  organisationId: string
  organisation: string
  env: ApiEnv
  families: string[]
  createdAt: Date
  disabledAt: Date | null
}

const CLIENT_LISTING_COLUMNS = columns<ClientListing>()(`
  c.client_id, c.name, o.uuid AS organisationId, o.name AS organisation, c.env,
  ARRAY(SELECT family FROM organisation_families f WHERE f.organisation_id = o.id ORDER BY family) AS families,
  c.created_at, c.disabled_at`)

export async function listClients(db: Knex): Promise<ClientListing[]> {
  return await query(
    db,
    typed`SELECT ${CLIENT_LISTING_COLUMNS}
     FROM clients c JOIN organisations o ON o.id = c.organisation_id ORDER BY c.id`,
  )
}

export async function insertConsumerKey(
  tx: Knex.Transaction,
  key: { organisationId: number; clientId: number; env: ApiEnv; prefix: string; digest: Buffer },
): Promise<void> {
  await execute(
    tx,
    'INSERT INTO consumer_keys (organisation_id, client_id, env, prefix, digest) VALUES (?, ?, ?, ?, ?)',
    [key.organisationId, key.clientId, key.env, key.prefix, key.digest],
  )
}

const entitledTo = (family: Family, row: string) =>
  `EXISTS (SELECT FROM organisation_families f WHERE f.organisation_id = ${row}.organisation_id AND f.family = '${family}')`

interface Holder {
  organisationId: number
  organisationUuid: string
  env: ApiEnv
  /** to the family of the key */
  isEntitled: boolean
}

const HOLDER_COLUMNS = columns<Holder>()(`
  k.organisation_id, o.uuid AS organisationUuid, k.env, ${entitledTo('securitisation', 'k')} AS isEntitled`)

export async function findConsumer(db: Knex, digests: readonly Buffer[]): Promise<Holder | undefined> {
  const rows = await query(
    db,
    typed`SELECT ${HOLDER_COLUMNS} FROM consumer_keys k JOIN organisations o ON o.id = k.organisation_id
     LEFT JOIN clients c ON c.id = k.client_id
     WHERE k.digest = ANY(?) AND k.revoked_at IS NULL AND c.disabled_at IS NULL`,
    [[...digests]],
  )
  return rows[0]
}

/** Without a secret it is not provisioned. */
export async function insertLmsIntegration(
  tx: Knex.Transaction,
  integration: { id: string; organisationId: number; clientId: number; env: ApiEnv; sealedSecret: string | null },
): Promise<void> {
  await execute(
    tx,
    'INSERT INTO lms_integrations (id, organisation_id, client_id, env, sealed_secret) VALUES (?, ?, ?, ?, ?)',
    [integration.id, integration.organisationId, integration.clientId, integration.env, integration.sealedSecret],
  )
}

interface LmsIntegration extends Holder {
  sealedSecret: string | null
}

const LMS_INTEGRATION_COLUMNS = columns<LmsIntegration>()(`
  i.organisation_id, o.uuid AS organisationUuid, i.env, i.sealed_secret, ${entitledTo('colending', 'i')} AS isEntitled`)

/** `sealedSecret` is null if it is not provisioned. */
export async function findLmsIntegration(db: Knex, id: string): Promise<LmsIntegration | undefined> {
  const rows = await query(
    db,
    typed`SELECT ${LMS_INTEGRATION_COLUMNS} FROM lms_integrations i JOIN organisations o ON o.id = i.organisation_id
     LEFT JOIN clients c ON c.id = i.client_id
     WHERE i.id = ? AND c.disabled_at IS NULL`,
    [id],
  )
  return rows[0]
}
