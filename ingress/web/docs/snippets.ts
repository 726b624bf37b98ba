import type { Operation, Reference } from './reference.ts'
import { sampleOf } from './sample.ts'

/** A value of a header: text, a variable of the environment, or a new id. */
type Value = { text: string } | { before: string; variable: string } | 'id'

type Body =
  | { kind: 'json'; value: unknown }
  | { kind: 'form'; fields: Readonly<Record<string, string>> }
  | { kind: 'file'; name: string }

/** The example of an operation, for each language. */
export interface ExampleRequest {
  method: string
  url: string
  headers: readonly (readonly [name: string, value: Value])[]
  body?: Body
}

/** Variables of the environment by security scheme, as in the guides. Keys do not belong into the text of a program. */
const CREDENTIALS: Readonly<Record<string, readonly [header: string, value: Value]>> = {
  projectKey: ['X-Api-Key', { before: '', variable: 'API_KEY' }],
  projectKeyReadOnly: ['X-Api-Key', { before: '', variable: 'API_KEY' }],
  projectBearer: ['Authorization', { before: 'Bearer ', variable: 'API_KEY' }],
  accessToken: ['Authorization', { before: 'Bearer ', variable: 'TOKEN' }],
  agentKey: ['Authorization', { before: 'Bearer ', variable: 'AGENT_KEY' }],
  consumerKey: ['x-api-key', { before: '', variable: 'CONSUMER_KEY' }],
}

const FORM = 'application/x-www-form-urlencoded'
const FILES: Readonly<Record<string, string>> = { 'text/csv': 'loans.csv', 'message/rfc822': 'bounce.eml' }

export function exampleRequest(operation: Operation, { schemas }: Reference, publicUrl: string): ExampleRequest {
  const { method, path, parameters = [], security, requestBody } = operation
  const needed = parameters.filter(({ required, schema }) => required || schema.examples)
  const sampled = needed.map((parameter) => {
    const text = String(sampleOf(parameter.schema, schemas, 'required', parameter.name))
    return { ...parameter, text }
  })
  const inPath = new Map(sampled.filter((one) => one.in === 'path').map(({ name, text }) => [name, text]))
  const query = new URLSearchParams(sampled.filter((one) => one.in === 'query').map(({ name, text }) => [name, text]))
  const headers = sampled
    .filter((one) => one.in === 'header')
    .map(({ name, text }) => [name, name === 'x-idempotency-key' ? 'id' : { text }] as const)
  const [scheme = ''] = Object.keys(security[0] ?? {})
  const credential = CREDENTIALS[scheme]
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURI(inPath.get(name) ?? ''))
  const [content] = Object.entries(requestBody?.content ?? {})
  return {
    method: method.toUpperCase(),
    url: `${publicUrl}${address}${query.size > 0 ? `?${query}` : ''}`,
    headers: [
      ...(credential ? [credential] : []),
      ...headers,
      ...(content && content[0] !== FORM ? [['Content-Type', { text: content[0] }] as const] : []),
    ],
    ...(content && {
      body: bodyOf(content[0], content[1].example ?? sampleOf(content[1].schema, schemas, 'required')),
    }),
  }
}

function bodyOf(type: string, value: unknown): Body {
  if (type === FORM) return { kind: 'form', fields: typeof value === 'object' ? { ...value } : {} }
  if (type.includes('json')) return { kind: 'json', value }
  return { kind: 'file', name: FILES[type] ?? 'file.txt' }
}

export function curlText({ method, url, headers, body }: ExampleRequest): string {
  const lines = [
    method === 'GET' || (method === 'POST' && body) ? `curl ${shell(url)}` : `curl -X ${method} ${shell(url)}`,
  ]
  for (const [name, value] of headers) {
    if (value === 'id') lines.push(`-H "${name}: $(uuidgen)"`)
    else if ('text' in value) lines.push(`-H ${shell(`${name}: ${value.text}`)}`)
    else lines.push(`-H "${name}: ${value.before}$${value.variable}"`)
  }
  if (body?.kind === 'json') lines.push(`-d ${shell(JSON.stringify(body.value, null, 2))}`)
  else if (body?.kind === 'file') lines.push(`--data-binary @${body.name}`)
  else if (body) {
    for (const [name, text] of Object.entries(body.fields)) lines.push(`--data-urlencode ${shell(`${name}=${text}`)}`)
  }
  return lines.join(' \\\n  ')
}

function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

export function pythonText({ method, url, headers, body }: ExampleRequest): string {
  const values = headers.map(([name, value]) => {
    if (value === 'id') return `${quoted(name)}: str(uuid.uuid4())`
    if ('text' in value) return `${quoted(name)}: ${quoted(value.text)}`
    const variable = `os.environ["${value.variable}"]`
    return `${quoted(name)}: ${value.before === '' ? variable : `${quoted(value.before)} + ${variable}`}`
  })
  const lines = [
    `    ${quoted(url)},`,
    ...(values.length > 0 ? ['    headers={', ...values.map((line) => `        ${line},`), '    },'] : []),
    ...(body?.kind === 'json' ? [`    json=${python(body.value, '    ')},`] : []),
    ...(body?.kind === 'form' ? [`    data=${python(body.fields, '    ')},`] : []),
    ...(body?.kind === 'file' ? [`    data=open(${quoted(body.name)}, "rb"),`] : []),
  ]
  const modules = [
    ...(/os\.environ/.test(values.join()) ? ['os'] : []),
    ...(/uuid4/.test(values.join()) ? ['uuid'] : []),
  ]
  return [
    ...(modules.length > 0 ? [...modules.map((name) => `import ${name}`), ''] : []),
    'import requests',
    '',
    `response = requests.${method.toLowerCase()}(`,
    ...lines,
    ')',
    'print(response.status_code, response.text)',
  ].join('\n')
}

/** Returns a JSON value as a Python literal. @param indent of the line on which it begins */
function python(value: unknown, indent: string): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object') return quoted(value)
  const inner = `${indent}    `
  const items = Array.isArray(value)
    ? value.map((item) => python(item, inner))
    : Object.entries(value).map(([name, item]) => `${quoted(name)}: ${python(item, inner)}`)
  const [start, end] = Array.isArray(value) ? '[]' : '{}'
  return items.length === 0
    ? `${start}${end}`
    : `${start}\n${items.map((item) => `${inner}${item},\n`).join('')}${indent}${end}`
}

/** JSON texts are also literals of Python and JavaScript. */
function quoted(value: unknown): string {
  return JSON.stringify(value)
}

export function javascriptText({ method, url, headers, body }: ExampleRequest): string {
  const values = headers.map(([name, value]) => {
    if (value === 'id') return `${quoted(name)}: crypto.randomUUID()`
    if ('text' in value) return `${quoted(name)}: ${quoted(value.text)}`
    const variable = `process.env.${value.variable}`
    return `${quoted(name)}: ${value.before === '' ? variable : `\`${value.before}\${${variable}}\``}`
  })
  const json = (value: unknown) => JSON.stringify(value, null, 2).replaceAll('\n', '\n  ')
  const options = [
    ...(method === 'GET' ? [] : [`  method: "${method}",`]),
    ...(values.length > 0 ? ['  headers: {', ...values.map((line) => `    ${line},`), '  },'] : []),
    ...(body?.kind === 'json' ? [`  body: JSON.stringify(${json(body.value)}),`] : []),
    ...(body?.kind === 'form' ? [`  body: new URLSearchParams(${json(body.fields)}),`] : []),
    ...(body?.kind === 'file' ? [`  body: await readFile("${body.name}"),`] : []),
  ]
  return [
    ...(body?.kind === 'file' ? ['import { readFile } from "node:fs/promises"', ''] : []),
    options.length === 0
      ? `const response = await fetch(${quoted(url)})`
      : [`const response = await fetch(${quoted(url)}, {`, ...options, '})'].join('\n'),
    'console.log(response.status, await response.text())',
  ].join('\n')
}
