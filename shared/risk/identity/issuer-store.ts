import type { Knex } from 'knex'
import type { Owner } from '../../jobs/job.ts'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { TrustedIssuer } from '../credentials/trusted-issuer.ts'

const COLUMNS = columns<Row>()(`
  id, iss, vct_values, jwks, ca_certificates, status_hosts, has_metadata, organisation_id IS NULL AS isOperators,
  assurance`)

type Row = Omit<TrustedIssuer, 'keys'> & { jwks: string | null }

function fromRow({ jwks, ...row }: Row): TrustedIssuer {
  return { ...row, keys: jwks === null ? [] : JSON.parse(jwks) }
}

/** Returns issuers of the operator first. */
export async function findTrusted(db: Knex, owner: Owner, iss: string): Promise<TrustedIssuer[]> {
  const rows = await query(
    db,
    typed`SELECT ${COLUMNS} FROM trusted_issuers WHERE env = ? AND iss = ? AND (organisation_id IS NULL OR organisation_id = ?)
     ORDER BY organisation_id NULLS FIRST`,
    [owner.env, iss, owner.organisationId],
  )
  return rows.map(fromRow)
}

/** `organisationId` null means the operator. */
export async function listIssuers(
  db: Knex,
  owner: { organisationId: number | null; env: Owner['env'] },
): Promise<TrustedIssuer[]> {
  const rows = await query(
    db,
    typed`SELECT ${COLUMNS} FROM trusted_issuers WHERE organisation_id IS NOT DISTINCT FROM ?::bigint AND env = ?
     ORDER BY iss LIMIT 500`,
    [owner.organisationId, owner.env],
  )
  return rows.map(fromRow)
}

/** Returns false when this organisation trusts the issuer already. */
export async function insertIssuer(
  tx: Knex,
  owner: { organisationId: number | null; env: Owner['env'] },
  issuer: Omit<TrustedIssuer, 'isOperators'>,
): Promise<boolean> {
  const inserted = await execute(
    tx,
    `INSERT INTO trusted_issuers (id, organisation_id, env, iss, vct_values, jwks, ca_certificates, status_hosts,
       has_metadata, assurance) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    [
      issuer.id,
      owner.organisationId,
      owner.env,
      issuer.iss,
      issuer.vctValues,
      issuer.keys.length === 0 ? null : JSON.stringify(issuer.keys),
      issuer.caCertificates,
      issuer.statusHosts,
      issuer.hasMetadata,
      issuer.assurance,
    ],
  )
  return inserted === 1
}

export async function deleteIssuer(
  tx: Knex,
  owner: { organisationId: number | null; env: Owner['env'] },
  id: string,
): Promise<boolean> {
  const deleted = await execute(
    tx,
    'DELETE FROM trusted_issuers WHERE id = ? AND organisation_id IS NOT DISTINCT FROM ?::bigint AND env = ?',
    [id, owner.organisationId, owner.env],
  )
  return deleted === 1
}
