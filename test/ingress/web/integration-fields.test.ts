import test from 'ava'
import { integrationKinds } from '#shared/monitoring/integrations/kinds.ts'
import { configOf, optionFields } from '../../../ingress/web/monitoring/integrations/fields.ts'
import { guideOf } from '../../../ingress/web/monitoring/integrations/guides.ts'
import { shownOptions } from '../../../ingress/web/monitoring/integrations/integrations-view.ts'

for (const kind of integrationKinds.values())
  test(`the form of ${kind.kind} contains every option that its manual names`, (t) => {
    const fields = optionFields(kind)
    t.true(fields.length > 0)
    for (const secret of kind.secretFields) {
      t.true(fields.find(({ name }) => name === secret)?.isSecret, `${secret} is a secret`)
    }
  })

test('a service has its own labels, an example and a link to its documentation', (t) => {
  const ownForms = new Set(['email', 'webhook', 'sms', 'call', 'shell', 'group'])
  for (const kind of integrationKinds.values()) {
    const guide = guideOf(kind.kind)
    const names = optionFields(kind).map(({ name }) => name)
    for (const name of Object.keys(guide.options)) t.true(names.includes(name), `${kind.kind}: ${name}`)
    if (!ownForms.has(kind.kind)) t.regex(guide.help ?? '', /^https:\/\//, kind.kind)
    for (const { name, label, example, type } of optionFields(kind)) {
      if (type !== 'text' || !/^(?:url|value|homeserver|site|topic|repo)/.test(name)) continue
      t.true(example !== '' || name === 'url', `${kind.kind}: ${name} has an example`)
      t.false(/address/i.test(label) && kind.kind !== 'email', `${kind.kind}: ${label}`)
    }
  }
})

test('a reader sees no text of an integration, which can contain a secret', (t) => {
  for (const kind of integrationKinds.values()) {
    const texts = optionFields(kind).filter(({ type }) => ['text', 'long-text', 'list', 'headers'].includes(type))
    const config = Object.fromEntries(
      texts.map(({ name, type }) => [
        name,
        type === 'list' ? ['marker'] : type === 'headers' ? { a: 'marker' } : 'marker',
      ]),
    )
    t.false(JSON.stringify(shownOptions(kind, config, false)).includes('marker'), kind.kind)
    const open = texts.filter(({ isSecret }) => !isSecret)
    const seen = shownOptions(kind, config, true).filter(({ text }) => text.includes('marker'))
    t.deepEqual(
      seen.map(({ name }) => name),
      open.map(({ name }) => name),
      kind.kind,
    )
  }
})

test('numbers, lists, switches and headers are converted for each kind', (t) => {
  const fieldsOf = (kind: string) => {
    const found = integrationKinds.get(kind)
    return found ? optionFields(found) : []
  }
  const ntfy = new URLSearchParams({ 'option-topic': 'ops', 'option-priority': '5', 'option-token': '' })
  t.deepEqual(configOf(fieldsOf('ntfy'), ntfy), { topic: 'ops', priority: 5 })
  const github = new URLSearchParams({ 'option-repo': 'a/b', 'option-labels': 'down, ops' })
  t.deepEqual(configOf(fieldsOf('github'), github), { repo: 'a/b', labels: ['down', 'ops'] })
  t.deepEqual(configOf(fieldsOf('email'), new URLSearchParams({ 'option-value': 'a@b.c', 'option-up': 'on' })), {
    value: 'a@b.c',
    down: false,
    up: true,
  })
  const webhook = new URLSearchParams({ 'option-headers_down': 'Authorization: Bearer a:b\r\nX-Team: ops' })
  t.deepEqual(configOf(fieldsOf('webhook'), webhook), {
    headers_down: { Authorization: 'Bearer a:b', 'X-Team': 'ops' },
  })
})
