import { render } from 'preact-render-to-string'
import { Segments } from '../forms/inputs.tsx'
import { CodeBlock, Crumb } from '../shell/basics.tsx'
import { Frame, type Site } from './frame.tsx'
import { anchorOf, type Content, type Operation, type Reference } from './reference.ts'
import { sampleOf } from './sample.ts'
import { Member, type SchemaScope, SchemaView, withCode } from './schema.tsx'
import { curlText, exampleRequest, javascriptText, pythonText } from './snippets.ts'

/** Renders the list of operations. @param search the result of a search, which limits the list */
export function indexPage(reference: Reference, site: Site, search?: { query: string; found: ReadonlySet<Operation> }) {
  const tags = reference.apis.flatMap((api) => api.tags.map((tag) => ({ ...tag, api: api.name })))
  const shown = tags
    .map((tag) => ({ ...tag, operations: tag.operations.filter((one) => search?.found.has(one) ?? true) }))
    .filter(({ operations }) => operations.length > 0)
  return render(
    <Frame reference={reference} site={site} title={search ? `${search.query} · API reference` : 'API reference'}>
      <h1>API reference</h1>
      {!search && <Introduction reference={reference} site={site} />}
      <search>
        <form class="docs-search" action="/docs">
          <label for="q">Find an operation</label>
          <input id="q" type="search" name="q" value={search?.query} maxLength={100} data-filters="docs-list" />
          <button type="submit">Search</button>
          <p class="hint">Search also looks in descriptions, parameters and members of bodies.</p>
        </form>
      </search>
      {search && (
        <p role="status">
          {search.found.size} {search.found.size === 1 ? 'operation contains' : 'operations contain'}{' '}
          <b>{search.query}</b>. <a href="/docs">Show all</a>
        </p>
      )}
      {shown.map(({ api, name, operations }) => (
        <section key={name} id={anchorOf(name)} class="docs-list" aria-labelledby={`${anchorOf(name)}-title`}>
          <h2 id={`${anchorOf(name)}-title`}>
            {name} <small>{api}</small>
          </h2>
          <ul class="bare">
            {operations.map((operation) => (
              <li key={operation.operationId} id={operation.operationId}>
                <a href={`/docs/${operation.operationId}`}>{withCode(operation.summary)}</a> <Address {...operation} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Frame>,
  )
}

function Introduction({ reference, site }: { reference: Reference; site: Site }) {
  return (
    <section class="card" id="credentials">
      <p>
        All addresses begin with <code>{site.publicUrl}</code>. For tools, the same description is an OpenAPI 3.1
        document:{' '}
        <a href="/openapi.json" download>
          openapi.json
        </a>
        . The examples read keys and tokens from variables of the environment.
      </p>
      <dl>
        {Object.entries(reference.securitySchemes).map(([name, scheme]) => (
          <div key={name}>
            <dt>
              <code>{name}</code>: {credentialText(scheme)}
            </dt>
            <dd>{withCode(scheme.description)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function credentialText({ type, name }: { type: string; name?: string }): string {
  return type === 'apiKey' ? `header ${name}` : 'header Authorization: Bearer'
}

export function operationPage(operation: Operation, reference: Reference, site: Site): string {
  const scope: SchemaScope = { schemas: reference.schemas, shown: new Set() }
  const { summary, description, security, deprecated, parameters = [], requestBody } = operation
  const schemes = security.flatMap((one) => Object.entries(one))
  return render(
    <Frame
      reference={reference}
      site={site}
      current={operation}
      title={`${summary.replaceAll('`', '')} · API reference`}
    >
      <article class="docs-operation">
        <header>
          <Crumb href="/docs" label="API reference" />
          <h1>{withCode(summary)}</h1>
          <p>
            <Address {...operation} /> {deprecated && <span class="pill">deprecated</span>}
          </p>
          {description !== undefined && <p>{withCode(description)}</p>}
          <p class="muted">
            <a href="/docs#credentials">Credentials</a>:{' '}
            {schemes.length === 0
              ? 'none'
              : withCode(schemes.map(([name, scopes]) => [`\`${name}\``, ...scopes].join(' with scope ')).join(' or '))}
          </p>
        </header>
        <Examples operation={operation} reference={reference} site={site} />
        <div>
          {parameters.length > 0 && (
            <section aria-labelledby="parameters">
              <h2 id="parameters">Parameters</h2>
              <ul class="docs-members">
                {parameters.map(({ name, in: place, required = false, description: text, schema }) => (
                  <Member
                    key={`${place} ${name}`}
                    {...{ name, place, schema, scope, isRequired: required }}
                    {...(text !== undefined && { description: text })}
                  />
                ))}
              </ul>
            </section>
          )}
          {requestBody && (
            <section aria-labelledby="body">
              <h2 id="body">Request body</h2>
              {!requestBody.required && <p>Optional.</p>}
              <Bodies content={requestBody.content} scope={scope} isOpen={true} />
            </section>
          )}
          <Responses operation={operation} scope={scope} />
        </div>
      </article>
    </Frame>,
  )
}

function Responses({ operation, scope }: { operation: Operation; scope: SchemaScope }) {
  return (
    <section aria-labelledby="responses">
      <h2 id="responses">Responses</h2>
      {Object.entries(operation.responses).map(([status, { description, headers = {}, content = {} }]) => (
        <section key={status} id={`status-${status}`} aria-labelledby={`status-${status}-title`}>
          <h3 id={`status-${status}-title`}>
            <code>{status}</code> {withCode(description)}
          </h3>
          {Object.entries(headers).map(([name, header]) => (
            <p key={name}>
              <code>{name}</code>: {withCode(header.description)}
            </p>
          ))}
          <Bodies content={content} scope={scope} isOpen={status.startsWith('2')} />
        </section>
      ))}
    </section>
  )
}

function Bodies({ content, scope, isOpen }: { content: Content; scope: SchemaScope; isOpen: boolean }) {
  return Object.entries(content).map(([type, { schema }]) => (
    <div key={type}>
      <p>
        <code>{type}</code>
      </p>
      <SchemaView schema={schema} scope={scope} isOpen={isOpen} />
    </div>
  ))
}

const LANGUAGES = [
  { value: 'curl', label: 'curl', text: curlText },
  { value: 'python', label: 'Python', text: pythonText },
  { value: 'javascript', label: 'JavaScript', text: javascriptText },
] as const

function Examples({ operation, reference, site }: { operation: Operation; reference: Reference; site: Site }) {
  const request = exampleRequest(operation, reference, site.publicUrl)
  const [status, response] = Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? []
  const content = Object.entries(response?.content ?? {}).find(([type]) => type.includes('json'))?.[1]
  const hasSchema = content !== undefined && Object.keys(content.schema).length > 0
  const sample = content?.example ?? (hasSchema ? sampleOf(content.schema, reference.schemas, 'all') : undefined)
  return (
    <aside class="docs-examples" aria-label="Examples">
      <div role="radiogroup" aria-label="Language of the example">
        <Segments name="language" value="curl" options={LANGUAGES} />
      </div>
      {LANGUAGES.map(({ value, label, text }) => (
        <div key={value} class={`in-${value}`}>
          <CodeBlock text={text(request)} label={`example in ${label}`} />
        </div>
      ))}
      {sample !== undefined && (
        <>
          <h2>Example of a {status} response</h2>
          <CodeBlock text={JSON.stringify(sample, null, 2)} label="example of a response" />
        </>
      )}
    </aside>
  )
}

function Address({ method, path }: { method: string; path: string }) {
  return (
    <span class="docs-address">
      <span class={`method is-${method}`}>{method.toUpperCase()}</span> <code>{path}</code>
    </span>
  )
}
