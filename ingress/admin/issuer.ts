import { readFile } from 'node:fs/promises'
import { IssuerBody } from '#shared/risk/identity/issuer-requests.ts'
import { deleteIssuer, listIssuers } from '#shared/risk/identity/issuer-store.ts'
import { insertRedirect } from '#shared/risk/identity/redirect-store.ts'
import { trustIssuer } from '#shared/risk/operations/issuers.ts'
import { findOrganisation } from '#shared/tenancy/organisations/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { checkValue, fieldErrors } from '#shared/validation.ts'
import { type Command, envOf, envOption, lines, textOf, UsageError } from './command.ts'

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    throw new UsageError(`${path} is not a JSON file`)
  }
}

const add: Command = {
  noun: 'issuer',
  verb: 'add',
  summary: 'Trust an issuer of credentials, for every organisation',
  help: ['FILE contains the body of POST /v1/identity/issuers.'],
  options: { file: { description: 'JSON', value: 'FILE', required: true }, env: envOption },
  async run(options, { db, config }) {
    const path = textOf(options, 'file')
    const body = checkValue(IssuerBody, await readJson(path))
    if (!body.ok) throw new UsageError(`${path}: ${fieldErrors(body.faults, 'the file')[0]?.message}`)
    const issuer = await trustIssuer(db, { organisationId: null, env: envOf(options) }, body.value, { config })
    return { json: issuer, text: lines({ id: issuer.id, iss: issuer.iss, assurance: issuer.assurance }) }
  },
}

const list: Command = {
  noun: 'issuer',
  verb: 'list',
  summary: 'List the issuers of credentials that every organisation trusts',
  options: { env: envOption },
  async run(options, { db }) {
    const issuers = await listIssuers(db, { organisationId: null, env: envOf(options) })
    return { json: issuers, text: issuers.map(({ id, iss, assurance }) => `${id}  ${assurance}  ${iss}`).join('\n') }
  },
}

const remove: Command = {
  noun: 'issuer',
  verb: 'remove',
  summary: 'Stop trusting an issuer of credentials',
  options: { id: { description: 'id, as listed', value: 'ID', required: true }, env: envOption },
  async run(options, { db }) {
    const id = textOf(options, 'id')
    const isGone = isUuid(id) && (await deleteIssuer(db, { organisationId: null, env: envOf(options) }, id))
    if (!isGone) throw new UsageError(`there is no issuer ${id}`)
    return { json: { removed: id }, text: `${id} is no longer trusted` }
  },
}

const addRedirect: Command = {
  noun: 'wallet-redirect',
  verb: 'add',
  summary: 'Register an address to which an organisation may redirect wallets after a presentation',
  options: {
    organisation: { description: 'its name or id', value: 'ORG', required: true },
    uri: { description: 'https address; a redirect must match it exactly', value: 'URI', required: true },
    env: envOption,
  },
  async run(options, { db }) {
    const organisation = await findOrganisation(db, textOf(options, 'organisation'))
    if (!organisation) throw new UsageError('there is no such organisation')
    const uri = textOf(options, 'uri')
    if (URL.parse(uri)?.protocol !== 'https:') throw new UsageError('--uri is not a URL with https')
    await insertRedirect(db, { organisationId: organisation.id, env: envOf(options) }, uri)
    return { json: { uri }, text: `${uri} is registered` }
  },
}

export const issuerCommands: readonly Command[] = [add, list, remove, addRedirect]
