import type { Knex } from 'knex'
import {
  CLIENT_SCOPES,
  type ClientScope,
  FAMILIES,
  type Family,
  parseClientScopes,
  parseFamilies,
} from '#shared/tenancy/oauth/families.ts'
import { changeFamilies, rotateClientSecret, switchClient } from '#shared/tenancy/operations/clients.ts'
import { findOrganisation, findOrganisationOfClient, listClients } from '#shared/tenancy/organisations/store.ts'
import { type Command, envOf, envOption, lines, type Options, operatorOf, textOf, UsageError } from './command.ts'
import { createClient } from './create-client.ts'

const families = {
  description: 'API families, separated by commas, or all',
  value: 'LIST',
  required: true,
} as const
const clientOption = { description: 'client id', value: 'ID', required: true } as const

const create: Command = {
  noun: 'client',
  verb: 'create',
  summary: 'Create an API client of an organisation; its secrets are shown once',
  help: [
    `Families: ${FAMILIES.join(', ')}.`,
    'Clients of the same NAME belong to the same organisation.',
    'The x-api-key comes with the family securitisation, the LMS secret with colending.',
  ],
  options: {
    name: { description: 'organisation of the client, created if it does not exist', value: 'ORG', required: true },
    env: envOption,
    families,
    scopes: {
      description: `beside those of the families: ${CLIENT_SCOPES.join(', ')}; default: none`,
      value: 'LIST',
    },
    'no-api-key': { description: 'without an x-api-key: securitisation evidence is then not configured' },
    'no-lms-secret': { description: 'without an LMS secret: inbound LMS events are then not configured' },
  },
  async run(options, { db, secrets }) {
    const created = await createClient(db, secrets, {
      name: textOf(options, 'name'),
      env: envOf(options),
      families: familiesOf(options),
      scopes: scopesOf(options),
      hasApiKey: options['no-api-key'] !== true,
      hasLmsSecret: options['no-lms-secret'] !== true,
    })
    return { json: created, text: lines({ ...created, families: created.families.join(',') }) }
  },
}

const list: Command = {
  noun: 'client',
  verb: 'list',
  summary: 'List all API clients',
  options: {},
  async run(_options, { db }) {
    const clients = await listClients(db)
    const text = clients.map(
      ({ clientId, organisation, env, families: held, disabledAt }) =>
        `${clientId}  ${env}  ${organisation}  ${held.join(',')}${disabledAt ? '  disabled' : ''}`,
    )
    return { json: clients, text: text.join('\n') }
  },
}

const rotate: Command = {
  noun: 'client',
  verb: 'rotate-secret',
  summary: 'Give a client a second secret; the one before the last stops working',
  options: { client: clientOption },
  async run(options, { db, actor }) {
    const clientId = textOf(options, 'client')
    await requireClient(db, clientId)
    const clientSecret = await rotateClientSecret(db, operatorOf({ actor }), { organisationId: null, clientId })
    const shown = { clientId, clientSecret }
    return { json: shown, text: lines(shown) }
  },
}

function switchCommand(verb: 'disable' | 'enable', summary: string): Command {
  return {
    noun: 'client',
    verb,
    summary,
    options: { client: clientOption },
    async run(options, { db, actor }) {
      const clientId = textOf(options, 'client')
      await requireClient(db, clientId)
      await switchClient(db, operatorOf({ actor }), { organisationId: null, clientId }, verb === 'disable')
      return { json: { clientId, disabled: verb === 'disable' }, text: `${clientId} ${verb}d` }
    },
  }
}

function entitlementCommand(verb: 'grant' | 'revoke', summary: string): Command {
  return {
    noun: 'entitlement',
    verb,
    summary,
    options: { organisation: { description: 'organisation id', value: 'ID', required: true }, families },
    async run(options, { db, actor }) {
      const uuid = textOf(options, 'organisation')
      const organisation = /^[0-9a-f-]{36}$/i.test(uuid) ? await findOrganisation(db, uuid) : undefined
      if (!organisation) throw new UsageError(`there is no organisation ${uuid}`)
      const named = familiesOf(options)
      await changeFamilies(db, operatorOf({ actor }), {
        organisationId: organisation.id,
        families: named,
        isGranted: verb === 'grant',
      })
      const json = { organisationId: organisation.uuid, [verb === 'grant' ? 'granted' : 'revoked']: named }
      return { json, text: `${organisation.name}: ${verb} ${named.join(', ')}` }
    },
  }
}

export const clientCommands: readonly Command[] = [
  create,
  list,
  rotate,
  switchCommand(
    'disable',
    'Disable a client: its secrets, keys and tokens stop working within seconds; its owners cannot enable it',
  ),
  switchCommand('enable', 'Enable a disabled client'),
  entitlementCommand('grant', 'Entitle an organisation to API families'),
  entitlementCommand(
    'revoke',
    'Revoke API families: every token loses them within seconds; owners cannot grant them again',
  ),
]

function familiesOf(options: Options): Family[] {
  const parsed = parseFamilies(textOf(options, 'families'))
  if ('families' in parsed) return parsed.families
  throw new UsageError(`${JSON.stringify(parsed.unknown)} is not a family: ${FAMILIES.join(', ')}`)
}

function scopesOf(options: Options): ClientScope[] {
  if (options.scopes === undefined) return []
  const parsed = parseClientScopes(textOf(options, 'scopes'))
  if ('scopes' in parsed) return parsed.scopes
  throw new UsageError(`${JSON.stringify(parsed.unknown)} is not a scope to give: ${CLIENT_SCOPES.join(', ')}`)
}

/** @throws UsageError if the client does not exist */
async function requireClient(db: Knex, clientId: string): Promise<void> {
  if ((await findOrganisationOfClient(db, clientId)) === null) throw new UsageError(`there is no client ${clientId}`)
}
