import type { Knex } from 'knex'
import type { Config } from '#shared/platform/process/config.ts'
import { parseRegistryConfig } from '#shared/risk/registries/registry-set.ts'
import { listClients } from '#shared/tenancy/organisations/store.ts'
import { countOf, type Finding } from './command.ts'

/** Reports a REGISTRIES that workers refuse, and production clients without any registry. */
export async function registriesFinding(db: Knex, { registries }: Pick<Config, 'registries'>): Promise<Finding> {
  const what = 'REGISTRIES'
  try {
    const connected = Object.keys(parseRegistryConfig(registries)).length
    if (connected > 0) return { what, ok: true, text: `connects ${countOf(connected, 'registry', 'registries')}` }
  } catch (error) {
    return { what, ok: false, text: error instanceof Error ? error.message : 'is invalid' }
  }
  const clients = (await listClients(db)).filter(({ env, disabledAt }) => env === 'PRODUCTION' && disabledAt === null)
  const ill = `not set, so production packs of ${countOf(clients.length, 'client')} get no registry data (docs/registries)`
  const isRisk = clients.length > 0
  return { what, ok: true, isRisk, text: isRisk ? ill : 'not set, and no production client needs it' }
}
