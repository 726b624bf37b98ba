import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { BUREAU_MAPPINGS, TAPE_MAPPINGS } from '#shared/risk/colending/mappings/registry.ts'
import { IMPORT_ERROR_COLUMNS } from '#shared/risk/operations/imports.ts'
import { cutBundle } from '#shared/risk/pools/pool-bundle.ts'
import { POOL_COLUMNS } from '#shared/risk/pools/pool-csv.ts'
import { tapeHead, tapeTail } from '#shared/risk/pools/tape.ts'
import { packBundle } from '#shared/risk/trade/export-pack.ts'
import { verifyCommand } from '#shared/transparency/anchoring/verify-cli.ts'
import { EVENT_TYPES } from '#shared/webhooks/event-types.ts'
import { signatureHeaders } from '#shared/webhooks/signature.ts'
import { commands } from '../../ingress/admin/registry.ts'
import { runAdmin } from '../../ingress/admin/run.ts'
import { reportCsv } from '../../ingress/api-monitoring/on-call.ts'
import { EventPayloadSchema } from '../../ingress/api-risk/webhooks/schemas.ts'
import { RefusedSchema } from '../../ingress/mcp/tool-server.ts'
import { tools } from '../../ingress/mcp/tools.ts'
import { readReference, type Schema } from '../../ingress/web/docs/reference.ts'
import { root } from '../support/imports.ts'
import { type Contract, type Entry, type JsonSchema, type Parts, partsOf } from './contract.ts'

/** Reads a file of one commit. */
export type ReadFile = (path: string) => Promise<string>

export const ofThisTree: ReadFile = async (path) => readFileSync(join(root, path), 'utf8')

/** Contract of the parts that no other committed document describes. */
export const CONTRACT_FILE = 'test/repository/contract.json'

/** Returns everything that a commit promises to keep: both APIs, settings, metrics, and the parts of CONTRACT_FILE. */
export async function contractOf(read: ReadFile): Promise<Contract> {
  const settings = [...(await read('docs/settings.md')).matchAll(/^\| `(\w+)` /gm)].map(([, name]) => `setting ${name}`)
  const source = await read('shared/platform/process/metrics.ts')
  const metrics = [...source.matchAll(/'(signalbox_\w+)'/g)].map(([, name]) => `metric ${name}`)
  return {
    ...operationsOf(await read('docs/openapi.json')),
    ...Object.fromEntries([...settings, ...metrics].map((name) => [name, {}])),
    ...JSON.parse(await read(CONTRACT_FILE)),
  }
}

/** Returns one entry per operation: its parameters and bodies, and its responses by status and type. */
function operationsOf(text: string): Contract {
  const { operations, schemas } = readReference(text)
  const parts = (schema: Schema, path: string, isRequired: boolean) => partsOf(schema, { path, isRequired, schemas })
  return Object.fromEntries(
    [...operations.values()].map(({ method, path, parameters = [], requestBody, responses }) => {
      const accepts = [
        requestBody ? { body: { types: [], isRequired: requestBody.required } } : {},
        ...parameters.map(({ in: place, name, schema, required = false }) =>
          parts(schema, `${place} ${name}`, required),
        ),
        ...Object.entries(requestBody?.content ?? {}).map(([type, { schema }]) => parts(schema, type, false)),
      ]
      const returns = Object.entries(responses).flatMap(([status, { headers = {}, content = {} }]) => [
        { [status]: { types: [] } },
        ...Object.keys(headers).map((name) => ({ [`${status} ${name}`]: { types: ['string'] } })),
        ...Object.entries(content).map(([type, { schema }]) => parts(schema, `${status} ${type}`, true)),
      ])
      return [`${method.toUpperCase()} ${path}`, { accepts: together(accepts), returns: together(returns) }]
    }),
  )
}

const together = (parts: readonly Parts[]) => Object.assign({}, ...parts)

/** Returns the content of CONTRACT_FILE. */
export async function currentContract(): Promise<Contract> {
  return { ...(await commandEntries()), ...toolEntries(), ...webhookEntries(), ...fileEntries() }
}

/** As the commands describe themselves. */
async function commandEntries(): Promise<Contract> {
  const { stdout } = await runAdmin(['--help'], commands, () => Promise.reject(new Error('the help needs no server')))
  const help = (await verifyCommand(['--help'])).stdout
  const [verifyUsage = '', verifyStatuses = ''] = help.split('Exit status:')
  return {
    ...Object.fromEntries(
      commands.map(({ noun, verb, options }) => {
        const shown = Object.entries(options).map(([name, { value, required = false }]) =>
          option(name, value !== undefined, required),
        )
        const name = verb === undefined ? noun : `${noun} ${verb}`
        return [`command ${name}`, { accepts: Object.assign({}, ...shown, option('json', false)) }]
      }),
    ),
    ...statusEntries('admin', stdout.split('Exit status:')[1] ?? ''),
    'command verify': {
      accepts: Object.assign(
        {},
        ...[...verifyUsage.matchAll(/--([a-z-]+)( [A-Z]+)?/g)]
          .toReversed()
          .map(([, name = '', value]) => option(name, value !== undefined)),
      ),
    },
    ...statusEntries('verify', verifyStatuses),
  }
}

function option(name: string, takesValue: boolean, isRequired = false): Parts {
  return { [`--${name}`]: { types: [takesValue ? 'string' : 'boolean'], ...(isRequired && { isRequired }) } }
}

function statusEntries(command: string, text: string): Contract {
  return Object.fromEntries(
    [...text.matchAll(/\b\d\b/g)].map(([status]) => [`exit status ${status} of ${command}`, {}]),
  )
}

function toolEntries(): Contract {
  const output = (schema: z.ZodType) => partsOfType(schema, 'output')
  return {
    ...Object.fromEntries(
      tools.map(({ name, scope, annotations, input, output: answer }) => {
        const facts = Object.entries({ scope, ...annotations }).map(([key, value]) => [
          `annotation ${key}`,
          { types: [typeof value], values: [String(value)] },
        ])
        const accepts = partsOfType(input, 'input')
        return [`tool ${name}`, { accepts, returns: { ...Object.fromEntries(facts), ...output(answer) } }]
      }),
    ),
    'refusal of a tool': { returns: output(RefusedSchema) },
  }
}

function partsOfType(schema: z.ZodType, io: 'input' | 'output'): Parts {
  // zod has a wider type of JSON Schema.
  const { $defs: schemas = {}, ...document } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema & {
    $defs?: Record<string, JsonSchema>
  }
  return partsOf(document, { schemas })
}

function webhookEntries(): Contract {
  const keys = { current: Buffer.from('a'), previous: Buffer.from('b') }
  const headers = Object.keys(signatureHeaders(keys, { id: '', timestamp: 0, body: '' }))
  return {
    ...Object.fromEntries(Object.keys(EVENT_TYPES).map((type) => [`event ${type}`, {}])),
    'webhook headers': columns(headers),
    'webhook body': { returns: partsOfType(EventPayloadSchema, 'output') },
  }
}

/** Files that the OpenAPI document does not describe, and files that a client uploads. */
function fileEntries(): Contract {
  const cut = { cutRecordId: '', poolId: '', cutOffDate: '' }
  const buffer = Buffer.alloc(0)
  const texts = { cutId: '', name: '', timestamp: '', cut: '{}', proof: '', stratification: '', replines: '' }
  const cutFiles = cutBundle({ ...texts, receivables: buffer, tape: buffer })
  const pack = { packId: '', title: null, issuedAt: '', bundle: '', findings: [], pdf: buffer, documents: [] }
  const packFiles = packBundle(pack)
  const tape = headOf(tapeHead('csv', cut))
  const tapeMembers = Object.keys(JSON.parse(`${tapeHead('json', cut)}${tapeTail('json')}`))
  return {
    'file tape.csv of a cut': columns(tape),
    'file tape.json of a cut': columns([...tapeMembers, ...tape.map((name) => `receivables[].${name}`)]),
    'file tape-esma-annex4-partial.csv of a cut': columns(headOf(tapeHead('esma-annex4', cut))),
    'BagIt package of a cut': columns([...cutFiles.keys()]),
    'BagIt package of a trade pack': columns([...packFiles.keys()]),
    'file fetch-list.txt of a trade pack': columns(headOf(String(packFiles.get('fetch-list.txt')))),
    'file errors.csv of an import': columns(IMPORT_ERROR_COLUMNS),
    'CSV of the on-call report': columns(headOf(reportCsv([]))),
    'CSV of a new pool': { accepts: uploadedColumns(POOL_COLUMNS.map((one) => ({ ...one, from: one.name }))) },
    ...Object.fromEntries(
      [...TAPE_MAPPINGS, ...BUREAU_MAPPINGS].map(({ id, columns: rules }) => [
        `file format ${id}`,
        { accepts: uploadedColumns(rules.map(({ from, required }) => ({ from, isRequired: required }))) },
      ]),
    ),
  }
}

function headOf(csv: string): string[] {
  return (csv.split('\r\n')[0] ?? '').split(',').map((cell) => cell.replaceAll('"', ''))
}

function columns(names: readonly string[]): Entry {
  return { returns: Object.fromEntries(names.map((name) => [name, { types: [], isRequired: true }])) }
}

function uploadedColumns(rules: readonly { from: string; isRequired: boolean }[]): Parts {
  return Object.fromEntries(
    rules.map(({ from, isRequired }) => [from, { types: [], ...(isRequired && { isRequired }) }]),
  )
}
