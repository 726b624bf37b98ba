import type { Knex } from 'knex'
import { replacePolicyAddress } from '../alerting/policy-store.ts'
import { replaceAddress as replaceInSchedules } from '../on-call/schedule-store.ts'

/** Replaces the previous address of a person in schedules and policies. */
export async function replaceAddress(tx: Knex, userId: number, before: string, after: string): Promise<void> {
  await replaceInSchedules(tx, userId, before, after)
  await replacePolicyAddress(tx, userId, before, after)
}
