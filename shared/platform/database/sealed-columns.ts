import type { SealPurpose } from '../process/secrets.ts'

/**
 * Columns with sealed values and their purpose. Excludes stored responses of idempotency keys, which expire within a
 * day.
 */
export const sealedColumns: readonly { table: string; column: string; purpose: SealPurpose }[] = [
  { table: 'project_keys', column: 'sealed', purpose: 'ping-key' },
  { table: 'integrations', column: 'sealed_config', purpose: 'integration' },
  { table: 'lms_integrations', column: 'sealed_secret', purpose: 'lms-secret' },
  { table: 'token_keys', column: 'sealed_private_jwk', purpose: 'token-key' },
  { table: 'packs', column: 'sealed_request', purpose: 'pack-request' },
  { table: 'evidence_jobs', column: 'sealed_request', purpose: 'evidence-request' },
  { table: 'financing_registrations', column: 'sealed_receivable', purpose: 'financing' },
  { table: 'financing_disputes', column: 'sealed_reason', purpose: 'financing' },
  { table: 'acceptance_requests', column: 'sealed_details', purpose: 'acceptance' },
  { table: 'pool_members', column: 'sealed_item', purpose: 'pool' },
  { table: 'trade_documents', column: 'sealed_values', purpose: 'trade' },
  { table: 'trade_verifications', column: 'sealed_values', purpose: 'trade' },
  { table: 'entity_records', column: 'sealed_values', purpose: 'entity' },
  { table: 'entity_passports', column: 'sealed_reason', purpose: 'entity' },
  { table: 'identity_subjects', column: 'sealed_external_ref', purpose: 'identity' },
  { table: 'identity_transitions', column: 'sealed_reason', purpose: 'identity' },
  { table: 'identity_verifications', column: 'sealed_values', purpose: 'identity' },
  { table: 'identity_verifications', column: 'sealed_status', purpose: 'identity' },
  { table: 'passports', column: 'sealed_reason', purpose: 'identity' },
  { table: 'presentations', column: 'sealed_secrets', purpose: 'presentation' },
  { table: 'presentations', column: 'sealed_form', purpose: 'presentation' },
  { table: 'presentation_values', column: 'sealed_values', purpose: 'identity' },
  { table: 'presentation_values', column: 'sealed_status', purpose: 'identity' },
  { table: 'domain_keys', column: 'sealed_key', purpose: 'domain-key' },
  { table: 'log_keys', column: 'sealed_seed', purpose: 'log-key' },
  { table: 'invoice_keys', column: 'sealed_private_key', purpose: 'invoice-key' },
  { table: 'webhook_endpoints', column: 'sealed_secret', purpose: 'webhook-secret' },
  { table: 'webhook_endpoints', column: 'sealed_previous_secret', purpose: 'webhook-secret' },
  { table: 'check_secrets', column: 'sealed_secret', purpose: 'ping-secret' },
  { table: 'check_secrets', column: 'sealed_previous', purpose: 'ping-secret' },
  { table: 'user_totp', column: 'sealed_secret', purpose: 'second-factor' },
  { table: 'outgoing_mails', column: 'sealed_mail', purpose: 'mail' },
]
