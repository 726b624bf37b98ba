import type { Knex } from 'knex'
import type { FactPerson } from '../alerting/incident.ts'
import { isUsable } from '../contacts/contact-method.ts'
import { entriesFor } from '../contacts/contact-rules.ts'
import { ensureAccountMethods, listContactRows } from '../contacts/contact-store.ts'
import { findContactRules, findOnCallSettings } from '../contacts/rule-store.ts'
import type { Responder } from '../on-call/schedule-store.ts'
import { contactMethodOf } from './contact-config.ts'
import type { ReachDeps } from './reachable.ts'

/** Loads the contact methods and rules of each responder, as they are now. */
export async function loadFactPeople(
  tx: Knex,
  { secrets, config }: ReachDeps,
  responders: readonly Responder[],
): Promise<(FactPerson & { organisationId: number })[]> {
  const userIds = [...new Set(responders.map(({ userId }) => userId))]
  if (userIds.length === 0) return []
  let rows = await listContactRows(tx, userIds)
  const withAccount = new Set(rows.flatMap(({ userId, sealedConfig }) => (sealedConfig === null ? [userId] : [])))
  const missing = userIds.filter((id) => !withAccount.has(id))
  if (missing.length > 0) {
    await ensureAccountMethods(tx, missing)
    rows = await listContactRows(tx, userIds)
  }
  const methods = Map.groupBy(
    rows.map((row) => contactMethodOf(row, secrets)),
    ({ userId }) => userId,
  )
  const rules = await findContactRules(tx, userIds)
  const settings = await findOnCallSettings(tx, userIds)
  return responders.map(({ organisationId, userId, email, name }) => {
    const own = (methods.get(userId) ?? []).map((method) => ({ ...method, isUsable: isUsable(method, config) }))
    const usable = own.filter((method) => method.isUsable)
    const lists = rules.get(userId) ?? { critical: [], other: [] }
    return {
      organisationId,
      userId,
      address: email,
      name,
      methods: own.map(({ id, kind, recoveries, isUsable: usableNow }) => ({
        id,
        kind,
        recoveries,
        isUsable: usableNow,
      })),
      critical: entriesFor(lists, 'critical', usable),
      other: entriesFor(lists, 'other', usable),
      quiet: settings.get(userId)?.quiet ?? [],
    }
  })
}
